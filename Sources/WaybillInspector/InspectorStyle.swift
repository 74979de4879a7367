/// What the pages of the inspector have beyond the look of a report.
enum InspectorStyle {
    /// The pages' icon, an SVG: three lines of different lengths, one of them broken.
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1d5fa8"/>\
        <path d="M3 4.5h10M3 8h4m2 0h4M3 11.5h6" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>
        """

    /// After the style of the report, whose colours it uses.
    static let css = """
        body{max-width:none;padding:0 max(1.5rem,calc(50vw - 56rem)) 3rem}
        a{color:inherit;text-underline-offset:.18em;text-decoration-color:color-mix(in srgb,currentColor 40%,transparent)}
        a:hover{text-decoration-color:currentColor}
        .skip{position:absolute;left:-99rem}
        .skip:focus{left:1rem;top:.5rem;z-index:3;padding:.4rem .8rem;background:var(--card)}
        button,.copier,select{font:inherit;color:inherit}
        button,.copier{padding:.3rem .7rem;border:1px solid var(--line);border-radius:6px;background:var(--card);cursor:pointer}
        button:hover,.copier:hover{border-color:var(--dim)}
        p.bad{color:var(--bad)}

        .top{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1.4rem;padding:.75rem 0;border-bottom:1px solid var(--line)}
        .top nav{display:flex;gap:.2rem}
        .top .brand{flex:none}
        @media(min-width:46.01rem){
        .unfold{display:none}
        #menu,form.ask[popover]{position:static;inset:auto;width:auto;height:auto;margin:0;padding:0;border:0;overflow:visible;background:none;\
        color:inherit}
        form.ask[popover]{margin:.8rem 0}
        #menu{display:flex;flex:1;flex-wrap:wrap;align-items:center;gap:.4rem 1.4rem}
        }
        .top nav a{padding:.22rem .75rem;border-radius:99px;color:var(--dim);text-decoration:none}
        .top nav a:hover{color:var(--ink)}
        .top nav a[aria-current]{background:var(--ink);color:var(--paper)}
        .top .store{margin-left:auto;font:.8rem var(--mono);color:var(--dim)}
        .top button{padding:.15rem .6rem;font-size:.85rem}
        h1{margin:1.1rem 0 .8rem}
        main:focus{outline:none}

        .find search{position:static;margin:0;padding:0;background:none}
        .find input,.find select,.find button{padding:.45rem .75rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .find select{max-width:13rem}
        .find a{color:var(--dim);font-size:.87rem}
        .line{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.4rem 1rem;margin:.8rem 0}
        .line .outcomes li{margin:0}
        .chip{display:inline-flex;align-items:center;gap:.4rem;padding:.12rem .65rem .12rem .45rem;border:1px solid var(--line);\
        border-radius:99px;background:var(--card);font-size:.87rem;text-decoration:none}
        .chip:hover{border-color:var(--dim)}
        .chip[aria-current]{border-color:var(--tone);box-shadow:inset 0 0 0 1px var(--tone);font-weight:600}
        li:has(>.chip:not(:has(svg))) .chip{padding-left:.65rem}
        .live{display:flex;align-items:center;gap:.6rem;margin:0}
        .live output{min-width:0}
        .live output::before{content:"";display:inline-block;width:.5rem;height:.5rem;margin-right:.4rem;border-radius:50%;\
        background:var(--warn)}
        .live[data-state=live] output::before{background:var(--good)}
        .live[data-state=offline] output::before{background:var(--bad)}
        .live button{padding:.12rem .65rem;font-size:.87rem}

        .rows{margin:0;padding:0;list-style:none;border:1px solid var(--line);border-radius:8px;background:var(--card);overflow:hidden}
        .rows:empty{display:none}
        .rows li+li{border-top:1px solid var(--line)}
        .rows a{display:grid;grid-template-columns:15px minmax(5rem,11rem) 6.4rem minmax(0,1fr) auto minmax(4rem,9rem) 5.2rem 9.6rem 6.6rem;\
        align-items:center;gap:0 .8rem;padding:.45rem .9rem .45rem 1rem;text-decoration:none;box-shadow:inset 3px 0 var(--tone)}
        .rows.net a{grid-template-columns:4.4rem minmax(0,2.2fr) 6.4rem minmax(0,1fr) minmax(4rem,9rem) 5.2rem 4.6rem 9.6rem}
        .rows a:hover,.rows a:focus-visible{background:var(--well)}
        .rows a:focus-visible{outline-offset:-2px}
        .rows svg:first-child{width:15px;height:15px}
        .rows em{color:var(--tone);font-style:normal}
        .rows span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;color:var(--dim);font-size:.87rem}
        .rows .failed span,.rows.net span{color:var(--ink)}
        .rows:not(.net):not(.src) span{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;line-clamp:2;white-space:normal}
        .rows.net i{display:block;overflow:hidden;text-overflow:ellipsis;font-style:normal;color:var(--tone)}
        .rows b{overflow:hidden;text-overflow:ellipsis}
        .rows small{margin:0;font-size:.8rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
        .rows data,.rows time,.rows code{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
        .rows time,.rows .size{font-size:.87rem;color:var(--dim)}
        .rows time u{font-size:.9em}
        .rows code{justify-self:end;padding:.08rem .4rem;border:1px dashed color-mix(in srgb,var(--dim) 55%,transparent);border-radius:4px;\
        font-size:.8rem}
        .strip{width:100%;height:8px;border-radius:4px;background:var(--well)}
        .strip rect{height:100%;rx:4px;fill:var(--tone);fill-opacity:.75}
        .rows .strip rect+rect{rx:1px}
        .rows .new{animation:new 4s ease-out}
        @keyframes new{from{background:color-mix(in srgb,var(--open) 28%,var(--card))}}
        .pages{display:flex;justify-content:center;gap:.6rem;margin:1rem 0}
        .pages a{padding:.35rem 1rem;border:1px solid var(--line);border-radius:8px;background:var(--card);text-decoration:none}
        .pages a:hover{border-color:var(--dim)}

        .around{display:flex;flex-wrap:wrap;align-items:center;gap:.3rem 1.1rem;margin:.9rem 0 0;font-size:.87rem;color:var(--dim)}
        .around a[rel=up]{margin-right:auto}
        .around svg,.what h1 svg{width:.95em;height:.95em;margin:0 .35em -.1em 0}
        .what h1{margin:.5rem 0 .2rem}
        .what h1 em{font-style:normal;font-weight:400;color:var(--tone)}
        .what>p{margin:.2rem 0 .7rem}
        .what .actions{display:flex;flex-wrap:wrap;gap:.4rem;margin:.8rem 0}
        .copier{display:inline-block;font-size:.8rem;text-decoration:none}
        article.t{margin-top:.6rem;border-radius:8px;padding-top:.1rem}
        .t>.gap{margin-top:.4rem;margin-bottom:0;color:var(--warn);font-size:.85rem}
        figure>svg>g>rect{height:100%;fill:var(--warn);fill-opacity:.16}
        figure .x g rect{fill-opacity:.3;stroke:none;height:12px}
        figure .x g rect:nth-child(2n){fill-opacity:.55}
        figure .x g rect:last-child{fill-opacity:.95}
        figure circle{fill:var(--lane);stroke:var(--card);stroke-width:1px;transform:translateY(var(--mid))}
        figure li:has(a:hover),figure li:has(a:focus-visible){background:var(--well)}
        .t details{content-visibility:auto;contain-intrinsic-size:auto 2.2rem}
        .t details:target>summary{background:var(--well)}
        .json{padding:.5rem .7rem;border-radius:6px;background:var(--well);font:.78rem/1.5 var(--mono);color:var(--ink)}

        .login{max-width:24rem;margin:12vh auto;padding:1.6rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .login h1{margin:0 0 1rem}
        .login input{display:block;width:100%;margin:.3rem 0 .9rem;padding:.5rem .75rem;border:1px solid var(--line);border-radius:8px;\
        background:var(--paper);color:inherit;font:inherit}
        .login p{margin:1rem 0 0;color:var(--dim);font-size:.85rem}
        .login p.bad{margin:0 0 1rem;color:var(--bad)}
        dialog{padding:1.2rem 1.5rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:inherit}
        dialog::backdrop{background:rgb(0 0 0/.45)}
        dialog{max-width:min(46rem,calc(100vw - 1.6rem));max-height:calc(100vh - 3rem);overflow-y:auto}
        dialog h2{margin:0 0 .6rem}
        dialog p{margin:0 0 .6rem;color:var(--dim)}
        dialog dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1.2rem;margin:0 0 1rem}
        dialog dt{font-family:var(--mono)}
        dialog dd{margin:0}
        @media(max-width:46rem){dialog dl:has(dt+dd+dt+dd+dt+dd+dt+dd+dt+dd+dt){grid-template-columns:1fr;gap:0}dialog dd+dt{margin-top:.4rem}}

        @media(max-width:92rem){
        .rows a{grid-template-columns:15px minmax(5rem,8rem) 6.2rem minmax(0,1fr) auto minmax(4rem,7rem) 5.2rem 4.4rem 6.4rem}
        .rows.net a{grid-template-columns:4.4rem minmax(0,2.2fr) 6.4rem minmax(0,1fr) minmax(4rem,8rem) 5.2rem 4.6rem 4.4rem}
        .rows time u{display:none}
        }
        @media(max-width:78rem){
        .rows a{grid-template-columns:15px minmax(5rem,9rem) 6.2rem minmax(0,1fr) minmax(3rem,6rem) 5rem 4.4rem 6.4rem}
        .rows:not(.net) small{display:none}
        .rows.net a{grid-template-columns:4.2rem minmax(0,1fr) 6.2rem minmax(3rem,6rem) 5rem 4.4rem 4.4rem}
        .rows.net small{display:none}
        }
        @media(max-width:46rem){
        body{padding:0 .8rem 2rem}
        .top{flex-wrap:nowrap;justify-content:space-between;padding:.55rem 0}
        .unfold{margin:.6rem 0 0}
        .top .unfold{margin:0;padding:.25rem .8rem}
        #menu,form.ask[popover]{border:1px solid var(--line);border-radius:8px;background:var(--card);color:inherit}
        #menu::backdrop,form.ask::backdrop{background:rgb(0 0 0/.3)}
        #menu{inset:3.2rem .8rem auto auto;min-width:12rem;max-width:calc(100vw - 1.6rem);margin:0;padding:.5rem}
        #menu nav{flex-direction:column;margin-bottom:.4rem}
        #menu nav a{padding:.5rem .9rem}
        #menu .store{display:block;margin:.4rem .9rem .6rem}
        #menu #keys,#menu form{display:inline-block;margin:0 0 .3rem .9rem}
        form.ask[popover]{inset:auto 0 0;width:auto;max-width:none;max-height:80vh;margin:0;padding:1rem .8rem;border-radius:12px 12px 0 0;overflow:auto}
        form.ask[popover]:not(:popover-open){display:none}
        .rows a,.rows.net a{grid-template-columns:15px minmax(0,1fr) auto auto;grid-template-areas:"i b d d" ". e t c" ". s s s" ". n x x";\
        gap:.1rem .6rem;padding:.55rem .7rem .6rem .8rem}
        .rows svg:first-child{grid-area:i}.rows b{grid-area:b}.rows data{grid-area:d}.rows em{grid-area:e}.rows time{grid-area:t}
        .rows code{grid-area:c}.rows span{grid-area:s;white-space:normal}.rows:not(.net) small{display:block;grid-area:n}
        .rows .strip{grid-area:x;width:6rem;justify-self:end}
        .rows span:empty{display:none}
        .rows.net a{grid-template-columns:minmax(0,1fr) auto auto;grid-template-areas:"b e d" "s s s" "t z x"}
        .rows.net data.size{grid-area:z}
        .rows:not(.net):not(.src) span{-webkit-line-clamp:3;line-clamp:3}
        .rows.net span{overflow-wrap:anywhere}
        .rows.net i{white-space:normal}
        .find input{flex-basis:100%}
        .find select{flex:1 1 8rem;min-width:0;max-width:100%}
        .login{margin:6vh auto}
        }
        \(charts)
        \(useCases)
        @media(prefers-reduced-motion:reduce){*{animation:none!important;scroll-behavior:auto!important}}
        @media print{
        #menu{display:contents!important}
        .top nav,.top form,.unfold,#keys,.find,.live,.pages,.actions,.around,.skip,dialog{display:none!important}
        body{padding:0}
        .t details{content-visibility:visible}
        .rows li{break-inside:avoid}
        }

        \(sources)
        \(beside)
        \(large)
        """
}
