extension InspectorStyle {
    /// Of what is large: a list that was not looked through to its end, and a transaction of thousands of facts, of which only what is in view is laid
    /// out. Rows of a grid, unlike those of a table, can be left until then.
    static let large = """
        .progress{margin:1rem 0 0;text-align:center;color:var(--dim);font-size:.87rem}
        .unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)}
        ol.long>li{content-visibility:auto;contain-intrinsic-size:auto var(--h);overflow-clip-margin:8px}
        .long,.long caption,.long tbody{display:block}
        .long tbody{content-visibility:auto;contain-intrinsic-size:auto 160rem}
        .long tr{display:grid;grid-template-columns:7.5rem minmax(0,1fr)}
        @media print{ol.long>li,.long tbody{content-visibility:visible}}
        """
}
