extension InspectorStyle {
    /// Charts: marks in percent of a box whose size is said here, and words that no scale makes smaller.
    static let charts = """
        .plot{margin:0}
        .plot svg{display:block;width:100%;height:2.4rem;overflow:visible}
        .scaled{display:grid;grid-template-columns:minmax(2.2rem,auto) minmax(0,1fr);gap:.3rem .6rem}
        .scaled svg{height:11rem}
        .scale{display:flex;flex-direction:column;justify-content:space-between;margin:-.55rem 0;text-align:right}
        .scale,.ticks{color:var(--dim);font-size:.78rem;line-height:1.1rem;font-variant-numeric:tabular-nums}
        .ticks{grid-column:2;display:flex;justify-content:space-between;gap:.5rem}
        .columns line{stroke:var(--line)}
        .columns .base{stroke:var(--dim)}
        .columns rect{fill:var(--tone,var(--l0));shape-rendering:crispEdges}
        .columns a:hover rect,.columns g:hover rect{fill-opacity:.7}
        .columns .quantile,.marks line{stroke:var(--ink);stroke-dasharray:2 3}
        .histogram{display:grid;grid-template-columns:minmax(2.2rem,auto) minmax(0,1fr);gap:0 .6rem}
        .histogram .plot{grid-column:1/-1;grid-template-columns:subgrid}
        .marks,.bounds{grid-column:2;width:100%;overflow:visible}
        .marks{height:66px}
        .bounds{height:20px}
        .marks text,.bounds text{font-size:12px;font-variant-numeric:tabular-nums}
        .marks text{fill:var(--ink);paint-order:stroke;stroke:var(--card);stroke-width:5px;stroke-linejoin:round}
        .bounds text{fill:var(--dim)}
        .share{display:block;width:100%;min-width:4rem;height:10px;border-radius:3px;background:var(--well)}
        .share rect{height:100%;fill:var(--tone,var(--l0))}
        .share.tall{height:26px;border-radius:6px}
        .whisker{display:block;width:100%;min-width:8rem;height:20px;color:var(--dim)}
        .whisker line{stroke:var(--tone,currentColor);stroke-width:2}
        .whisker circle{fill:var(--tone,currentColor)}
        .whisker .none{stroke:var(--dim);stroke-width:1;stroke-dasharray:2 2}
        @media(max-width:46rem){.scaled svg{height:8rem}.bounds .fine{display:none}}
        @media print{.scaled svg{height:8rem}}
        """
}
