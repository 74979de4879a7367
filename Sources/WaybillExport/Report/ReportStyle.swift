/// The look of a report: one style sheet and the signs of the outcomes.
package enum ReportStyle {
    /// Drawn once, used by their IDs: see `Outcome.icon`.
    package static let icons: HTML = """
        <svg class=icons aria-hidden=true>
        <symbol id=good viewBox="0 0 16 16"><circle cx=8 cy=8 r=7 /><path d="M4.9 8.3l2.2 2.2 4.1-4.7"/></symbol>
        <symbol id=bad viewBox="0 0 16 16"><path class=solid d="M5 1h6l4 4v6l-4 4H5l-4-4V5z"/><path d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2"/></symbol>
        <symbol id=warn viewBox="0 0 16 16"><path class=solid d="M8 .8L15.2 8 8 15.2.8 8z"/><path d="M4.8 8h6.4"/></symbol>
        <symbol id=open viewBox="0 0 16 16"><circle class=ring cx=8 cy=8 r=6 /></symbol>
        </svg>
        """

    /// Colours first: everything below them is drawn with these.
    package static let css = """
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
        time,data,td,figure b,.t details em,output{font-variant-numeric:tabular-nums}
        .succeeded{--tone:var(--good)}.failed{--tone:var(--bad)}.open{--tone:var(--open)}\
        .canceled,.abandoned,.interrupted,.timed_out{--tone:var(--warn)}
        :root{--lane:var(--l0)}.l1{--lane:var(--l1)}.l2{--lane:var(--l2)}.l3{--lane:var(--l3)}
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
        header dt{font-size:.7rem;letter-spacing:.07em;text-transform:uppercase;color:var(--dim)}
        h3,h4,caption{font-size:.8rem;font-weight:600;color:var(--dim)}
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
        output:empty{display:none}
        output{color:var(--dim);font-size:.85rem;min-width:6.5rem;text-align:right}

        h2{margin:1.2rem 0 .45rem;font-size:.85rem;color:var(--dim);font-variant-numeric:tabular-nums}
        .none{margin:3.5rem auto;max-width:34rem;text-align:center}
        .none p{color:var(--dim)}
        .t{border:1px solid var(--line);background:var(--card);margin-top:-1px;box-shadow:inset 3px 0 var(--tone)}
        section>.t:first-of-type{border-radius:8px 8px 0 0}
        section>.t:last-of-type{border-radius:0 0 8px 8px}
        section>.t:only-of-type{border-radius:8px}
        summary{cursor:pointer;list-style:none}
        summary::-webkit-details-marker{display:none}
        .t>summary{display:grid;grid-template-columns:15px minmax(6rem,11rem) 6.2rem minmax(0,1fr) 6.6rem 5.2rem 6.4rem .7rem;\
        align-items:center;gap:0 .8rem;padding:.5rem .9rem .5rem 1rem}
        .t>summary:hover{background:var(--well)}
        .t>summary::after,.t details>summary::after{content:"";width:.42rem;height:.42rem;border:solid var(--dim);border-width:0 1.5px 1.5px 0;\
        transform:rotate(45deg) translate(-2px,-2px);justify-self:end}
        .t[open]>summary::after,.t details[open]>summary::after{transform:rotate(225deg) translate(-2px,-2px)}
        .t>summary em{color:var(--tone);font-style:normal}
        .t>summary span{color:var(--dim);font-size:.87rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
        .t.failed>summary span{color:var(--ink)}
        .t>summary time{color:var(--dim);font-size:.87rem;text-align:right}
        .t>summary data{text-align:right}
        .t>summary code{justify-self:end;padding:.08rem .4rem;border:1px dashed color-mix(in srgb,var(--dim) 55%,transparent);border-radius:4px;\
        font-size:.8rem;letter-spacing:.02em;white-space:nowrap}
        .t[open]{margin:.6rem 0;border-radius:8px!important}
        .t[open]>summary{border-bottom:1px solid var(--line)}
        .t>:not(summary){margin-left:1.1rem;margin-right:1.1rem}
        .t>:last-child{margin-bottom:1.1rem}

        .t>p{margin-top:.9rem;margin-bottom:.4rem;color:var(--dim);font-size:.85rem}
        .t>p code{color:var(--ink)}
        .t>ul{margin-top:0;margin-bottom:0;padding:0;list-style:none;font-size:.87rem;color:var(--dim)}
        .t>ul b,tbody th{color:var(--lane)}
        .t>.note{color:var(--warn)}
        u{text-decoration:none;color:var(--dim)}
        pre{margin:.3rem 0;padding:.55rem .7rem;border-radius:6px;background:var(--well);font-size:.78rem;line-height:1.5;white-space:pre-wrap;\
        color:var(--ink)}

        figure{margin:1.1rem 0 0;--h:26px;--mid:13px;--dot:.5px;--label:clamp(13rem,28%,20rem);position:relative;padding-top:1.35rem}
        figure ol{margin:0;padding:0;list-style:none}
        figure li{position:relative;display:flex;justify-content:space-between;gap:.75rem;height:var(--h);line-height:26px;font-size:.82rem;\
        padding-right:calc(100% - var(--label) + 1rem);white-space:nowrap}
        figure span{overflow:hidden;text-overflow:ellipsis}
        figure b{font-weight:400;color:var(--dim)}
        figure b.bad{color:var(--bad)}
        .d1{padding-left:.9rem}.d2{padding-left:1.8rem}.d3{padding-left:2.7rem}.d4{padding-left:3.6rem}
        figure svg{overflow:visible}
        figure>svg,li>svg{position:absolute;top:0;left:var(--label);width:calc(100% - var(--label));height:100%}
        figure>svg{top:1.35rem;height:calc(100% - 1.35rem);border-left:1px solid var(--line)}
        figure>svg>rect{width:1px;height:100%;fill:var(--line)}
        figure text{fill:var(--dim);font-size:11px;transform:translate(-1px,-7px)}
        .p rect{height:2px;y:calc(var(--mid) - 1px);fill:var(--lane)}
        figure .x rect{height:12px;y:calc(var(--mid) - 6px);rx:2px;fill:var(--lane);fill-opacity:.32;stroke:var(--lane);stroke-width:1px}
        figure .x rect+rect{fill-opacity:.9}
        figure .x .open{fill:none;stroke-dasharray:3 3}
        .p .open{fill-opacity:.4}
        figure .u rect{height:10px;y:calc(var(--mid) - 5px);fill:var(--lane);fill-opacity:.22}
        figure .u rect+rect{width:1px;fill-opacity:1}
        figure path{fill:none;stroke:var(--bad);stroke-width:2.4;transform:translateY(var(--mid))}
        figure [viewBox] path{stroke:var(--lane);stroke-width:7;stroke-linecap:round;vector-effect:non-scaling-stroke;\
        transform:translateY(var(--dot))}

        .t>div:last-child{display:grid;grid-template-columns:auto minmax(40%,1fr);gap:0 2.2rem;align-items:start;margin-top:1.2rem}
        .t>div>:only-child{grid-column:1/-1}
        table{border-collapse:collapse;font-size:.87rem}
        caption,h3{padding:0;margin:0 0 .2rem;text-align:left}
        td,th{padding:.11rem 0;vertical-align:top;text-align:left}
        td:first-child{padding-right:.9rem;text-align:right;white-space:nowrap}
        s{margin-right:.8rem;text-decoration:none;color:var(--dim)}
        tbody th,td+td{padding-left:.8rem;border-left:2px solid var(--lane)}
        tbody th{padding-top:.3rem}
        small{margin-left:.6rem;font-size:.93em;color:var(--dim)}
        td u{margin-left:.4rem}
        th small{font-weight:400}
        td.bad,td.bad small{color:var(--bad)}
        .from,.to,.out,.in{font-weight:600}
        .from small,.to small,.out small,.in small,td u{font-weight:400}
        td.from::before{content:"\\250C\\00A0"}td.to::before{content:"\\2514\\00A0"}
        td.out::before{content:"\\2192\\00A0"}td.in::before{content:"\\2190\\00A0"}
        td.from::before,td.to::before,td.out::before,td.in::before{font-weight:400;color:var(--lane)}

        .t details{border-top:1px solid var(--line);font-size:.87rem}
        .t details:last-child{border-bottom:1px solid var(--line)}
        .t details>summary{display:grid;grid-template-columns:auto minmax(0,1fr) auto .7rem;align-items:center;gap:.7rem;padding:.4rem .2rem}
        .t details>summary:hover{background:var(--well)}
        .t details small{color:var(--lane)}
        .t details span+small{margin:0}
        .t details span>small{display:inline-block;max-width:100%}
        .t details em{font-style:normal;color:var(--good)}
        .t details em.bad,p.bad{color:var(--bad)}
        .t details p{margin:.2rem 0 .5rem;color:var(--dim)}
        .t details>pre{max-height:26rem;overflow:auto}
        .t details .phases{margin:.3rem 0 .35rem}
        .phases rect{fill:var(--lane);fill-opacity:.4;stroke:var(--card)}
        .phases rect:nth-child(even){fill-opacity:.65}
        .phases rect:last-child{fill-opacity:1}
        h4{margin:.7rem 0 .2rem;font-weight:400}
        .t details dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.1rem 1rem;margin:0;font:.78rem/1.5 var(--mono)}
        .t details dt{color:var(--dim)}.t details dd{margin:0}
        .t details>:last-child{margin-bottom:.8rem}
        .copier{padding:.05rem .5rem;border-radius:6px;font-size:.75rem}
        .t>p .copier{margin-left:.6rem}
        .t details .copier{float:right;margin:.35rem .4rem 0 .5rem}
        footer{margin-top:1.6rem;font-size:.8rem;color:var(--dim)}

        @media(max-width:60rem){.t>div:last-child{grid-template-columns:minmax(0,1fr);gap:1.2rem}}
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
        figure{--h:42px;--mid:31px;--dot:.738px;--label:0px}
        figure li{padding-right:0}
        figure text{font-size:10px}
        td:first-child{padding-right:.55rem}
        s{margin-right:.4rem}
        .t details>summary{grid-template-columns:auto minmax(0,1fr) auto .7rem;gap:.5rem}
        .t>div:last-child{grid-template-columns:minmax(0,1fr);gap:1.2rem}
        }
        @media print{
        :root{--paper:#fff;--card:#fff;--well:#f4f4f4;--ink:#000;--dim:#444;--line:#bbb;--good:#1c7548;--bad:#b3261e;--warn:#855800;\
        --open:#1d5fa8;--l0:#2866b0;--l1:#7b4bb3;--l2:#0b7470;--l3:#9a4d12}
        html{color-scheme:light;print-color-adjust:exact;-webkit-print-color-adjust:exact}
        body{max-width:none;padding:0;font-size:10pt}
        search,.copier,summary::after{display:none!important}
        .t details>pre{max-height:none}
        .t>summary,tr,figure,.t details>summary{break-inside:avoid}
        }
        """
}
