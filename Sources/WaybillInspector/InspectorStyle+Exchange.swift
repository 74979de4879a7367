/// What the page of one exchange has beyond the others.
extension InspectorStyle {
    static let exchange = """
        .what .url{margin:.2rem 0 .8rem;font:.87rem/1.45 var(--mono);color:var(--dim)}
        .what .actions{margin:.8rem 0 0}
        .exchange section{margin-top:1.1rem}
        .exchange h2{color:var(--ink);margin:0 0 .3rem;font-size:1.05rem;line-height:1.3}
        .exchange section>p{margin:.2rem 0 .5rem}
        .exchange .note{color:var(--dim);font-size:.87rem}
        .exchange .sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,32rem),1fr));gap:0 1.2rem;align-items:start}
        .exchange .sides section{min-width:0;padding:.8rem 1rem 1rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .kind{display:flex;flex-wrap:wrap;align-items:center;gap:.3rem .5rem;margin:1rem 0 .35rem!important;font-size:.87rem;color:var(--dim)}
        .kind span{flex:1 1 10rem}
        h2+.kind{margin-top:.3rem!important}
        .fields{display:block;font:.78rem/1.5 var(--mono)}
        .fields tbody{display:block}
        .fields tr{display:grid;grid-template-columns:minmax(6rem,13rem) minmax(0,1fr);gap:0 1rem;padding:.12rem 0;\
        border-top:1px solid color-mix(in srgb,var(--line) 60%,transparent)}
        .fields tr:first-child{border-top:0}
        .fields th,.fields td,.fields tbody th,.fields tbody td{padding:0;border:0;text-align:left;white-space:pre-wrap;overflow-wrap:anywhere}
        .fields th{font-weight:400;color:var(--dim)}
        .fields pre{margin:.2rem 0}
        .exchange pre{margin:0;padding:.5rem .7rem;border-radius:6px;background:var(--well);font:.78rem/1.5 var(--mono);white-space:pre-wrap;\
        max-height:36rem;overflow:auto}
        .exchange pre.hex{white-space:pre;overflow-wrap:normal;font-size:.7rem}
        .exchange .json{max-height:48rem;overflow:auto}
        .json p,.json summary{margin:0;white-space:pre-wrap}
        .json details>*{margin-left:1.2rem}
        .json details>summary{margin-left:0;list-style:disclosure-open inside;cursor:pointer}
        .json details:not([open])>summary{list-style-type:disclosure-closed}
        .json details:not([open])>summary::after{content:" ...";color:var(--dim)}
        .json b{font-weight:400;color:var(--l0)}
        .json i{font-style:normal;color:var(--good)}
        .json var{font-style:normal;color:var(--l3)}
        .raw{margin-top:.5rem;font-size:.87rem}
        .raw>summary{display:list-item;width:fit-content;padding:.15rem 0;list-style:disclosure-closed inside;cursor:pointer;color:var(--dim)}
        .raw[open]>summary{list-style-type:disclosure-open}
        .raw .copier{float:right;margin:.35rem .4rem 0 .5rem}
        .image{margin:.3rem 0 0;overflow:hidden}
        .image img{display:block;max-width:100%;max-height:32rem;height:auto;object-fit:contain;object-position:left;border:1px solid var(--line);border-radius:4px;\
        background:repeating-conic-gradient(#d9d9d9 0 25%,#fff 0 50%) 0 0/16px 16px}
        .phases-table{width:100%;max-width:56rem;font-size:.87rem}
        .phases-table tbody th,.phases-table tbody td{padding:.12rem 0;border:0;font-weight:400}
        .phases-table th{width:5rem;color:var(--dim)}
        .phases-table td:last-child{width:6rem;text-align:right;white-space:nowrap}
        .phases-table td:nth-child(2){padding-right:.8rem;vertical-align:middle}
        .phases-table svg{display:block;width:100%;height:.62rem;border-radius:3px;background:var(--well)}
        .phases-table rect{height:100%;rx:2px;fill:var(--l0)}
        .redirects{margin:.2rem 0 0;padding:0;list-style:none;font-size:.87rem}
        .redirects li{display:grid;grid-template-columns:minmax(0,1fr) auto 8.5rem;gap:0 1rem;padding:.25rem 0}
        .redirects li+li{border-top:1px solid var(--line)}
        .redirects li+li span::before{content:"\\21B3\\00A0";color:var(--dim)}
        .redirects span{font:.78rem/1.6 var(--mono);overflow-wrap:anywhere}
        .redirects em{font-style:normal}
        .redirects em.bad{color:var(--bad)}
        .redirects data{text-align:right;color:var(--dim);font-variant-numeric:tabular-nums}
        .within{position:sticky;top:0;z-index:1;margin:.9rem 0 0;padding:.45rem 0;background:var(--paper)}
        .within input{max-width:28rem}
        .within output{min-width:6rem;font-size:.87rem;color:var(--dim)}
        ::highlight(found){background-color:#ffe08a;color:#1c2024}
        ::highlight(found-here){background-color:#f08c00;color:#1c2024}
        .terms{display:flex;flex-wrap:wrap;align-items:center;gap:.3rem .5rem;margin:-.3rem 0 .8rem;padding:0;list-style:none;font-size:.87rem}
        .terms .chip{padding:.08rem .65rem;font:.8rem var(--mono);color:var(--dim);--tone:var(--open)}
        .terms .chip[aria-current]{color:var(--ink)}
        @media(max-width:46rem){
        .fields tr{grid-template-columns:minmax(0,1fr);padding:.25rem 0}
        .exchange .sides section{padding:.6rem .7rem .8rem}
        .exchange pre,.exchange .json{max-height:none}
        .exchange pre.hex{max-height:24rem}
        .redirects li{grid-template-columns:minmax(0,1fr) auto}
        .redirects span{grid-column:1/-1}
        .redirects em{justify-self:start}
        .terms{flex-wrap:nowrap;overflow-x:auto;padding-bottom:.2rem}
        .terms .chip{white-space:nowrap}
        }
        @media print{
        .within,.kind .copier,.terms{display:none!important}
        .exchange pre,.exchange .json{max-height:none}
        .exchange .sides{display:block}
        }
        """
}
