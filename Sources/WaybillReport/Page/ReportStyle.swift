/// The look of a report: one style sheet and the signs of the outcomes.
enum ReportStyle {
    /// Drawn once, used by their IDs, which are those of ``WaybillCore/Outcome/tone``.
    static let icons: HTML = """
        <svg class=icons aria-hidden=true>
        <symbol id=good viewBox="0 0 16 16"><circle cx=8 cy=8 r=7 /><path d="M4.9 8.3l2.2 2.2 4.1-4.7"/></symbol>
        <symbol id=bad viewBox="0 0 16 16"><path class=solid d="M5 1h6l4 4v6l-4 4H5l-4-4V5z"/><path d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2"/></symbol>
        <symbol id=warn viewBox="0 0 16 16"><path class=solid d="M8 .8L15.2 8 8 15.2.8 8z"/><path d="M4.8 8h6.4"/></symbol>
        <symbol id=open viewBox="0 0 16 16"><circle class=ring cx=8 cy=8 r=6 /></symbol>
        </svg>
        """

    /// Colours first: everything below them is drawn with these.
    static let css = """
        :root{
        --paper:#f6f4ef;--card:#fffefb;--well:#f1eee7;--ink:#1c2024;--dim:#5c646d;--line:#dedad0;
        --good:#1c7548;--bad:#b3261e;--warn:#855800;--open:#1d5fa8;--l0:#2866b0;--l1:#7b4bb3;--l2:#0b7470;--l3:#9a4d12;
        --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
        @media(prefers-color-scheme:dark){:root{
        --paper:#131517;--card:#1a1d20;--well:#212529;--ink:#e7e4de;--dim:#9da5ad;--line:#32373d;
        --good:#62c796;--bad:#ff8f82;--warn:#e3b455;--open:#84b8f2;--l0:#7fb2ee;--l1:#bc9ff2;--l2:#5bc5bf;--l3:#e8a468}}
        *{box-sizing:border-box}
        [hidden]{display:none!important}
        html{color-scheme:light dark;-webkit-text-size-adjust:100%;text-size-adjust:100%}
        body{margin:0 auto;max-width:74rem;padding:1.75rem 1.5rem 3rem;background:var(--paper);color:var(--ink);\
        font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
        b,h1,h2,h3,h4,th{font-weight:600}
        code,pre{font-family:var(--mono)}
        time,data,td,.fall b,.x em,output{font-variant-numeric:tabular-nums}
        .good{--tone:var(--good)}.bad{--tone:var(--bad)}.warn{--tone:var(--warn)}.open{--tone:var(--open)}
        .l0{--lane:var(--l0)}.l1{--lane:var(--l1)}.l2{--lane:var(--l2)}.l3{--lane:var(--l3)}
        .icons{display:none}
        symbol circle,.solid{fill:var(--tone)}
        symbol path{fill:none;stroke:var(--card);stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round}
        symbol .solid{fill:var(--tone);stroke:none}
        symbol .ring{fill:none;stroke:var(--tone);stroke-width:2.2;stroke-dasharray:3.2 1.5}
        :focus-visible{outline:2px solid var(--open);outline-offset:2px;border-radius:4px}

        .brand{margin:0;font:600 .72rem/1 var(--mono);letter-spacing:.22em;text-transform:uppercase;color:var(--dim)}
        h1{margin:.4rem 0 1rem;font-size:1.65rem;line-height:1.2;letter-spacing:-.015em}
        header dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(12.5rem,1fr));margin:0;border:1px solid var(--line);\
        border-radius:8px;background:var(--line);gap:1px;overflow:hidden}
        header dl div{padding:.55rem .8rem .65rem;background:var(--card)}
        header dt,h4,caption{font-size:.7rem;letter-spacing:.07em;text-transform:uppercase;color:var(--dim)}
        header dd{margin:.1rem 0 0}
        .bar{display:block;width:100%;height:6px;margin:1.1rem 0 .6rem;border-radius:3px}
        .bar rect{height:100%;fill:var(--tone);stroke:var(--paper);stroke-width:1.5}
        .outcomes{display:flex;flex-wrap:wrap;gap:.3rem .5rem;margin:0;padding:0;list-style:none}
        .outcomes li,.outcomes button{display:inline-flex;align-items:center;gap:.4rem}
        .outcomes li{margin-right:.6rem}
        .outcomes button{margin-right:-.6rem;padding:.2rem .6rem .2rem .45rem;border:1px solid var(--line);border-radius:99px;\
        background:var(--card);color:inherit;font:inherit;cursor:pointer}
        .outcomes button[aria-pressed=true]{border-color:var(--tone);box-shadow:inset 0 0 0 1px var(--tone)}
        .outcomes svg,.t>summary>svg{width:15px;height:15px;flex:none}

        aside{margin:1.1rem 0 0;padding:.1rem .9rem;border-left:3px solid var(--warn);background:var(--card)}
        aside p{margin:.5rem 0}
        search{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;align-items:center;gap:.5rem;margin:1rem -1.5rem 0;\
        padding:.6rem 1.5rem;background:var(--paper)}
        search input{flex:1 1 14rem;min-width:0;padding:.5rem .75rem;border:1px solid var(--line);border-radius:8px;background:var(--card);\
        color:inherit;font:inherit}
        search input::placeholder{color:var(--dim);opacity:1}
        search button,.copier{padding:.45rem .8rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:inherit;\
        font:inherit;cursor:pointer}
        search button:hover,.copier:hover,.outcomes button:hover{border-color:var(--dim)}
        output{color:var(--dim);font-size:.85rem;min-width:6.5rem;text-align:right}

        h2{margin:1.2rem 0 .45rem;font-size:.85rem;color:var(--dim);font-variant-numeric:tabular-nums}
        .none{margin:3rem 0;text-align:center;color:var(--dim)}
        .t{border:1px solid var(--line);background:var(--card);margin-top:-1px;box-shadow:inset 3px 0 var(--tone)}
        section>.t:first-of-type{border-radius:8px 8px 0 0}
        section>.t:last-of-type{border-radius:0 0 8px 8px}
        section>.t:only-of-type{border-radius:8px}
        summary{cursor:pointer;list-style:none}
        summary::-webkit-details-marker{display:none}
        .t>summary{display:grid;grid-template-columns:15px minmax(6rem,11rem) 6.2rem minmax(0,1fr) 6.6rem 5.2rem 6.4rem .7rem;\
        align-items:center;gap:0 .8rem;padding:.5rem .9rem .5rem 1rem}
        .t>summary:hover{background:var(--well)}
        .t>summary::after,.x>summary::after{content:"";width:.42rem;height:.42rem;border:solid var(--dim);border-width:0 1.5px 1.5px 0;\
        transform:rotate(45deg) translate(-2px,-2px);justify-self:end}
        .t[open]>summary::after,.x[open]>summary::after{transform:rotate(225deg) translate(-2px,-2px)}
        .t>summary em{color:var(--tone);font-style:normal}
        .t>summary span{color:var(--dim);font-size:.87rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
        .t.bad>summary span{color:var(--ink)}
        .t>summary time{color:var(--dim);font-size:.87rem;text-align:right}
        .t>summary data{text-align:right}
        .t>summary code{justify-self:end;padding:.08rem .4rem;border:1px dashed color-mix(in srgb,var(--dim) 55%,transparent);border-radius:4px;\
        font-size:.8rem;letter-spacing:.02em;white-space:nowrap}
        .t[open]{margin:.6rem 0;border-radius:8px!important}
        .t[open]>summary{border-bottom:1px solid var(--line)}
        .t>:not(summary){margin-left:1.1rem;margin-right:1.1rem}
        .t>:last-child{margin-bottom:1.1rem}

        .id{margin:.9rem 0 .4rem;color:var(--dim);font-size:.85rem}
        .id code{color:var(--ink)}
        .who{margin-top:0;margin-bottom:0;padding:0;list-style:none;font-size:.87rem;color:var(--dim)}
        .who b,.x p b,tbody th{color:var(--lane)}
        .note{color:var(--warn)}
        i{font-style:normal;font-size:.93em}
        u{text-decoration:none;color:var(--dim)}
        pre{margin:.3rem 0;padding:.55rem .7rem;border-radius:6px;background:var(--well);font-size:.78rem;line-height:1.5;white-space:pre-wrap;\
        color:var(--ink)}

        .fall{--h:26px;--mid:13px;display:grid;grid-template-columns:minmax(13rem,19rem) 1fr;margin-top:1.1rem;padding-top:1.35rem}
        .fall ol{margin:0;padding:0;list-style:none}
        .fall li{display:flex;justify-content:space-between;gap:.75rem;height:var(--h);padding-right:1rem;line-height:26px;font-size:.82rem;\
        white-space:nowrap}
        .fall span{overflow:hidden;text-overflow:ellipsis}
        .fall b{font-weight:400;color:var(--dim)}
        .fall b.bad{color:var(--bad)}
        .d1{padding-left:.9rem}.d2{padding-left:1.8rem}.d3{padding-left:2.7rem}.d4{padding-left:3.6rem}
        .fall svg{overflow:visible}
        .fall>svg{width:100%;height:100%}
        .fall>svg>rect{width:1px;height:100%;fill:var(--line)}
        .fall text{fill:var(--dim);font-size:11px;transform:translate(-1px,-7px)}
        .p rect{height:2px;y:calc(var(--mid) - 1px);fill:var(--lane)}
        .p circle{cy:var(--mid);r:3.5px;fill:var(--lane);stroke:var(--card);stroke-width:1.5px}
        .x rect{height:12px;y:calc(var(--mid) - 6px);rx:2px;fill:var(--lane);fill-opacity:.32;stroke:var(--lane);stroke-width:1px}
        .x .body{fill-opacity:.9}
        .fall .open{fill:none;stroke:var(--lane);stroke-dasharray:3 3}
        .fall path{stroke:var(--card);stroke-width:5;transform:translateY(var(--mid))}
        .fall path+path{stroke:var(--bad);stroke-width:2.2}

        table{width:auto;margin-top:1.1rem;border-collapse:collapse;font-size:.87rem}
        caption,h3{padding:0;margin:0 0 .2rem;text-align:left}
        h3{margin-top:1.2rem;font-size:.7rem;letter-spacing:.07em;text-transform:uppercase;color:var(--dim)}
        td,th{padding:.11rem 0;vertical-align:top;text-align:left}
        td:nth-child(-n+2){padding-right:.9rem;text-align:right;white-space:nowrap}
        td:nth-child(2){color:var(--dim)}
        tbody th,td:nth-child(3){padding-left:.8rem;border-left:2px solid var(--lane)}
        tbody th{padding-top:.3rem}
        .l1 th,.l1 td:nth-child(3){border-left-width:2px}
        small{margin-left:.6rem;font-size:.93em;color:var(--dim)}
        td i{margin-left:.6rem}
        td.bad,td.bad small{color:var(--bad)}
        .from,.to,.out,.in{font-weight:600}
        .from small,.to small,.out small,.in small,.from i,.to i,.out i{font-weight:400}
        td.from::before{content:"\\250C\\00A0"}td.to::before{content:"\\2514\\00A0"}
        td.out::before{content:"\\2192\\00A0"}td.in::before{content:"\\2190\\00A0"}
        td.from::before,td.to::before,td.out::before,td.in::before{font-weight:400;color:var(--lane)}

        .x{border-top:1px solid var(--line);font-size:.87rem}
        .x:last-child{border-bottom:1px solid var(--line)}
        .x>summary{display:grid;grid-template-columns:auto minmax(0,1fr) auto .7rem;align-items:center;gap:.7rem;padding:.4rem .2rem}
        .x>summary:hover{background:var(--well)}
        .x em{font-style:normal;color:var(--good)}
        .x em.bad,p.bad{color:var(--bad)}
        .x p{margin:.2rem 0 .5rem;color:var(--dim)}
        h4{margin:.7rem 0 .2rem}
        .x dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.1rem 1rem;margin:0;font:.78rem/1.5 var(--mono)}
        .x dt{color:var(--dim)}.x dd{margin:0}
        .x>:last-child{margin-bottom:.8rem}
        .copier{margin-left:.6rem;padding:.05rem .5rem;font-size:.75rem;letter-spacing:0;text-transform:none}
        footer{margin-top:1.6rem;font-size:.8rem;color:var(--dim)}

        @media(max-width:46rem){
        body{padding:1.1rem .8rem 2rem}
        h1{font-size:1.35rem}
        header dl{grid-template-columns:1fr 1fr}
        header dl div:last-child:nth-child(odd){grid-column:1/-1}
        search{margin:.8rem -.8rem 0;padding:.5rem .8rem}
        .t>summary{grid-template-columns:15px 1fr auto auto .7rem;grid-template-areas:"i b b d a" ". e t c c" ". s s s s";gap:.1rem .6rem;\
        padding:.55rem .7rem .6rem .8rem}
        .t>summary>svg{grid-area:i}.t>summary b{grid-area:b}.t>summary data{grid-area:d}.t>summary::after{grid-area:a}
        .t>summary em{grid-area:e}.t>summary time{grid-area:t}.t>summary code{grid-area:c}.t>summary span{grid-area:s;white-space:normal}
        .t>summary span:empty{display:none}
        .t>:not(summary){margin-left:.8rem;margin-right:.8rem}
        .fall{--h:42px;--mid:31px;grid-template-columns:1fr}
        .fall>*{grid-area:1/1}
        .fall li{padding-right:0}
        .fall text{font-size:10px}
        td:nth-child(-n+2){padding-right:.55rem}
        td:nth-child(2){display:none}
        .x>summary{grid-template-columns:auto minmax(0,1fr) auto .7rem;gap:.5rem}
        .x dl{grid-template-columns:1fr}.x dd{padding-left:1rem}
        }
        @media print{
        :root{--paper:#fff;--card:#fff;--well:#f4f4f4;--ink:#000;--dim:#444;--line:#bbb;--good:#1c7548;--bad:#b3261e;--warn:#855800;\
        --open:#1d5fa8;--l0:#2866b0;--l1:#7b4bb3;--l2:#0b7470;--l3:#9a4d12}
        html{color-scheme:light;print-color-adjust:exact;-webkit-print-color-adjust:exact}
        body{max-width:none;padding:0;font-size:10pt}
        search,.copier,summary::after{display:none!important}
        .t>summary,tr,.fall,.x>summary{break-inside:avoid}
        }
        """
}
