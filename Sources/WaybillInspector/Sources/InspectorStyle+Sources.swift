extension InspectorStyle {
    /// What the pages of sources and of delivery have beyond the other pages.
    static let sources = """
        .top nav{flex-wrap:wrap}
        .heads{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 1.4rem}
        .views{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.87rem}
        .views a{color:var(--dim);text-decoration:none;border-bottom:2px solid transparent}
        .views a:hover{color:var(--ink)}
        .views a[aria-current]{color:var(--ink);border-color:currentColor}

        .rows.src a{grid-template-columns:minmax(9rem,1.2fr) minmax(0,1fr) minmax(5rem,9rem) minmax(0,1.8fr) minmax(0,1.4fr) 9.6rem}
        .find+.rows.src,.find+.none{margin-top:.8rem}
        .rows.src b,.rows.src span{max-height:4.4em;white-space:normal;overflow:hidden}
        .rows.src b u{display:block;font-weight:400;font-size:.87rem}
        .rows.src small,.rows.src em{font-size:.87rem;white-space:normal}
        .strip .succeeded{fill:var(--good)}.strip .open{fill:var(--open)}.strip .failed{fill:var(--bad)}\
        .strip .interrupted{fill:var(--warn)}.strip .canceled{fill:var(--dim)}
        .rows.src .strip rect,.panel .strip rect{rx:0;fill-opacity:1;stroke:var(--card);stroke-width:1px}

        .what h1 em.state{color:var(--dim)}
        @media(min-width:46.01rem){.what.source dl{grid-template-columns:repeat(4,1fr)}}
        .said{color:var(--dim);font-size:.87rem}
        .panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem;align-items:start;margin-top:1rem}
        .panels .wide{grid-column:1/-1}
        .panel{min-width:0;overflow-x:auto;padding:.2rem 1.1rem 1rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
        .panel h2,.wide h2{margin:.7rem 0 .5rem}
        .panel p{margin:.3rem 0 .6rem}
        .why{color:var(--dim)}
        .panel .strip{display:block;height:10px;margin:.2rem 0 .7rem}
        .facts{width:100%}
        .facts th,.facts td,.facts td+td,.facts tbody th{padding:.24rem .9rem .24rem 0;border:0;color:inherit;text-align:left;\
        vertical-align:baseline;white-space:normal}
        .facts tr+tr>*,.facts tbody+tbody>tr:first-child>*,.facts thead+tbody>tr:first-child>*{border-top:1px solid var(--line)}
        .facts thead th,.ledger th{overflow-wrap:normal}
        .facts td u{margin:0 .3rem 0 0}
        .facts thead th{color:var(--dim);font-size:.8rem}
        .facts .n,.facts thead .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
        .facts tr[class]>th:first-child{color:var(--tone)}
        .facts.ledger tr.canceled>th:first-child{color:var(--dim)}
        .facts em{color:var(--tone);font-style:normal}
        .facts td>svg{width:15px;height:15px;vertical-align:-2px}
        .facts th[rowspan]{vertical-align:top}

        .causes{margin:.4rem 0 0;padding:0;list-style:none}
        .causes li{border-top:1px solid var(--line)}
        .causes li>p,.causes summary{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem 1.2rem;margin:0;padding:.45rem 0}
        .causes summary::before{content:"";align-self:center;width:.42rem;height:.42rem;margin-right:-.6rem;border:solid var(--dim);\
        border-width:0 1.5px 1.5px 0;transform:rotate(-45deg)}
        .causes [open]>summary::before{transform:rotate(45deg)}
        .causes b{flex:1 1 16rem;color:var(--tone)}
        .causes span,.causes time{color:var(--dim);font-size:.87rem}
        .causes .json{margin-bottom:.8rem}
        .causes .json details{content-visibility:visible}
        .causes .json p{margin:0}
        .causes .json details>*{margin-left:1.2rem}
        .causes .json summary{display:list-item;margin:0;padding:0;list-style:disclosure-open inside}
        .causes .json summary::before{content:none}
        .causes .json details:not([open])>summary{list-style-type:disclosure-closed}
        details.table{margin-top:.7rem}
        details.table summary{color:var(--dim);font-size:.87rem;text-decoration:underline;text-underline-offset:.18em}

        @media(max-width:78rem){
        .rows.src a{grid-template-columns:minmax(0,1fr) minmax(4rem,9rem) minmax(0,1.6fr) 8.6rem;grid-template-areas:"b x e t" "s s c c"}
        .rows.src b{grid-area:b}.rows.src span{grid-area:s}.rows.src .strip{grid-area:x}.rows.src em{grid-area:e}\
        .rows.src:not(.net) small{display:block;grid-area:c;text-align:right}.rows.src:not(.net) time u{display:inline}
        .rows.src time{grid-area:t}
        }
        @media(max-width:46rem){
        .rows.src a{grid-template-columns:minmax(0,1fr) auto;grid-template-areas:"b t" "s s" "x x" "e e" "c c"}
        .rows.src b u{display:inline}
        .runs thead{display:none}
        .runs tr{display:flex;flex-wrap:wrap;gap:.1rem .8rem;padding:.35rem 0}
        .facts.runs th,.facts.runs td{padding:0}
        .runs tr+tr{border-top:1px solid var(--line)}
        .facts.runs tr:nth-child(n)>*{border:0}
        .runs th[rowspan]{width:100%}
        .rows.src .strip{width:100%;justify-self:stretch;margin:.2rem 0}
        .rows.src:not(.net) small{text-align:left}
        .panel{padding:.2rem .8rem .8rem}
        .facts{font-size:.82rem}
        .facts th,.facts td,.facts td+td,.facts tbody th{padding-right:.6rem}
        }
        """
}
