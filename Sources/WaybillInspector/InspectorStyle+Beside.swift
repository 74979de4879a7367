/// Two transactions side by side, and the choice of clocks.
extension InspectorStyle {
    static let beside = """
        .clocks,form.beside{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem .7rem;margin:.8rem 0;font-size:.87rem}
        .clocks span,form.beside span{color:var(--dim)}
        .clocks .outcomes li{margin:0}
        .clocks .chip{padding-left:.65rem;--tone:var(--open)}
        form.beside input{flex:0 1 13rem;min-width:0;padding:.25rem .6rem;border:1px solid var(--line);border-radius:6px;\
        background:var(--card);color:inherit;font:inherit}
        .sides{display:grid;grid-template-columns:minmax(0,1fr);gap:.7rem;margin-top:.8rem}
        .sides .t{margin:0;border-radius:8px;padding-bottom:.3rem}
        .sides h2{display:flex;flex-wrap:wrap;align-items:center;gap:.1rem .5rem;margin-top:.7rem;margin-bottom:.1rem;color:var(--ink);font-size:1rem}
        .sides h2 svg{width:.95em;height:.95em}
        .sides h2 em{font-style:normal;font-weight:400;color:var(--tone)}
        .sides h2 data{margin-left:auto;font-weight:400}
        .sides .t>p{margin-top:.1rem;margin-bottom:.1rem}
        .sides .t>p:empty{display:none}
        table.beside{width:100%;margin:1.2rem 0;background:var(--card);border:1px solid var(--line);border-radius:8px;border-collapse:separate;\
        border-spacing:0}
        table.beside caption{margin-bottom:.4rem}
        table.beside td,table.beside th{padding:.2rem .9rem;border-left:0}
        table.beside tr>*{border-top:1px solid var(--line)}
        table.beside thead th{border-top:0;color:var(--dim);font-size:.8rem}
        table.beside tbody th{width:28%;border-left:3px solid var(--lane);color:var(--ink);font-weight:400}
        table.beside .from,table.beside .to,table.beside .out,table.beside .in{font-weight:600}
        .beside .from::before{content:"\\250C\\00A0"}.beside .to::before{content:"\\2514\\00A0"}
        .beside .out::before{content:"\\2192\\00A0"}.beside .in::before{content:"\\2190\\00A0"}
        table.beside td:nth-child(2),table.beside td:nth-child(3){width:11rem;text-align:left;white-space:nowrap}
        table.beside td:last-child{color:var(--dim)}
        table.beside td.differs{color:var(--warn);font-weight:600}
        table.beside .one{background:color-mix(in srgb,var(--warn) 9%,var(--card))}
        table.beside i{color:var(--dim)}
        @media(max-width:46rem){
        table.beside,table.beside tbody,table.beside tr,table.beside caption{display:block}
        table.beside thead{display:none}
        table.beside tr{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);padding:.35rem 0;border-top:1px solid var(--line)}
        table.beside tr>*{border-top:0}
        table.beside tbody th{grid-column:1/-1;width:auto}
        table.beside td:nth-child(2)::before,table.beside td:nth-child(3)::before{color:var(--dim);font-size:.8em}
        table.beside td:nth-child(2)::before{content:"first "}
        table.beside td:nth-child(3)::before{content:"second "}
        table.beside td:nth-child(2),table.beside td:nth-child(3){width:auto;white-space:normal}
        table.beside td:last-child{grid-column:1/-1}
        table.beside td:last-child:empty{display:none}
        .sides h2 data{margin-left:0}
        }
        @media print{.clocks,form.beside{display:none!important}}
        """
}
