extension InspectorStyle {
    /// The pages of use cases.
    static let useCases = """
        .top nav{flex-wrap:wrap}
        .hint{margin:.5rem 0 0;color:var(--dim);font-size:.85rem}
        .line .hint{margin:0}
        .cases{margin:0;padding:0;list-style:none;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .cases li{padding:0}
        .cases>li{display:grid;grid-template-columns:minmax(11rem,1.3fr) minmax(10rem,2fr) minmax(14rem,2fr) auto;align-items:center;gap:.4rem 1.6rem;\
        padding:.8rem 1rem}
        .cases>li+li{border-top:1px solid var(--line)}
        .cases h2{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;margin:0;padding:3px;font-size:1rem;color:var(--ink)}
        .cases .bar{margin:0 0 .5rem}
        .cases .outcomes,.answer .outcomes{font-size:.87rem}
        .outcomes li>a{display:inline-flex;align-items:center;gap:.4rem}
        .cases dl{display:grid;grid-template-columns:repeat(4,minmax(4.6rem,auto));gap:.2rem 1.2rem;margin:0}
        .cases dt,.figures dt{color:var(--dim);font-size:.75rem}
        .cases dd,.figures dd{margin:0;font-variant-numeric:tabular-nums;white-space:nowrap}
        .views{display:flex;flex-wrap:wrap;gap:.2rem 1.3rem;margin:0 0 1rem;border-bottom:1px solid var(--line)}
        .views a{padding:.35rem 0;margin-bottom:-1px;color:var(--dim);text-decoration:none;border-bottom:2px solid transparent}
        .views a:hover{color:var(--ink)}
        .views a[aria-current]{color:var(--ink);border-color:currentColor;font-weight:600}
        .ask{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .9rem;margin:.8rem 0;font-size:.87rem}
        .ask label{display:inline-flex;align-items:center;gap:.4rem;color:var(--dim)}
        .ask input:not([type=checkbox]),.ask select{min-width:0;max-width:14rem;padding:.35rem .6rem;border:1px solid var(--line);border-radius:8px;\
        background:var(--card);color:var(--ink);font:inherit}
        .ask input::placeholder{color:var(--dim);opacity:1}
        .answer{margin:1rem 0;padding:1rem 1.1rem 1.1rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .answer header{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.3rem 1rem;margin-bottom:.8rem}
        .answer h2{margin:0;font-size:1.05rem;color:var(--ink)}
        .figures{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:0 0 1rem}
        .answer .bar{margin:0 0 .6rem}
        .answer .outcomes{margin-bottom:1.1rem}
        .scroll{overflow-x:auto;background:linear-gradient(90deg,var(--card) 40%,transparent) 0/3rem 100% local no-repeat,\
        linear-gradient(270deg,var(--card) 40%,transparent) 100%/3rem 100% local no-repeat,\
        linear-gradient(90deg,var(--line),transparent) 0/1rem 100% scroll no-repeat,\
        linear-gradient(270deg,var(--line),transparent) 100%/1rem 100% scroll no-repeat}
        .answer table{width:100%;margin-top:.4rem}
        .answer td,.answer th{padding:.28rem .9rem .28rem 0;border:0;vertical-align:middle;font-variant-numeric:tabular-nums}
        .answer thead tr>*{border-bottom:1px solid var(--line);color:var(--dim);font-size:.8rem;vertical-align:bottom}
        .answer td,.answer thead tr>:not(:first-child){text-align:right;white-space:nowrap}
        .answer thead small{display:block;margin:0;font-weight:400}
        .answer :is(tbody,tfoot) th{padding-left:0;border-left:0;color:var(--ink);font-weight:400;min-width:8rem;max-width:22rem}
        .answer tbody tr+tr>*,.answer tfoot>tr>*{border-top:1px solid color-mix(in srgb,var(--line) 55%,transparent)}
        .answer .drawn{width:36%;min-width:7rem;padding-right:0}
        .answer .mid{display:block;text-align:center}
        .answer td .bad{color:var(--bad)}
        .answer tfoot tr>*{font-weight:600}
        .numbers{margin-top:.9rem}
        .numbers>summary{color:var(--dim);font-size:.87rem;list-style:revert}
        .numbers>summary::-webkit-details-marker{display:revert}
        .sentences{margin:1rem 0 0;padding-left:1.1rem}
        .sentences li{margin:.35rem 0;max-width:70rem}
        .lost{--tone:color-mix(in srgb,var(--bad) 38%,transparent)}
        .client_before,.client_between,.client_after{--tone:var(--l0)}
        .client_between{--tone:color-mix(in srgb,var(--l0) 70%,var(--card))}
        .client_after{--tone:color-mix(in srgb,var(--l0) 45%,var(--card))}
        .request{--tone:var(--l3)}.response{--tone:color-mix(in srgb,var(--l3) 60%,var(--card))}
        .server{--tone:var(--l2)}.network{--tone:var(--l1)}.exchange{--tone:color-mix(in srgb,var(--l1) 55%,var(--card))}
        .sign{width:.75rem;height:.75rem;margin-right:.3rem;vertical-align:-.08rem;border-radius:3px}
        .sign rect{width:100%;height:100%;fill:var(--tone)}
        @media(max-width:78rem){.cases>li{grid-template-columns:minmax(0,1fr) minmax(0,2fr)}}
        @media(max-width:46rem){
        .cases>li{grid-template-columns:minmax(0,1fr)}
        .cases dl{grid-template-columns:repeat(4,auto);justify-content:space-between;gap:.2rem .6rem}
        .answer{padding:.8rem}
        .answer :is(table,tbody,tfoot){display:block}
        .answer thead{display:none}
        .answer :is(tbody,tfoot) tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.6rem,1fr));gap:.2rem .8rem;padding:.55rem 0}
        .answer tr+tr,.answer tfoot tr{border-top:1px solid var(--line)}
        .answer :is(tbody,tfoot)>tr:nth-child(n)>*{min-width:0;max-width:none;padding:0;border:0;text-align:left;white-space:normal;overflow-wrap:break-word}
        .answer :is(tbody,tfoot) th,.answer .drawn{grid-column:1/-1;width:auto}
        .answer td[data-label]::before{content:attr(data-label);display:block;color:var(--dim);font-size:.78rem;font-weight:400}
        .answer td:empty{visibility:hidden}
        .answer .drawn:empty{display:none}
        .answer .two{grid-column:span 2}
        .ask label,.ask select{max-width:100%}
        .views{gap:.1rem 1rem}
        }
        @media print{.ask,.views,.answer .copier{display:none!important}.answer{break-inside:avoid}}
        """
}
