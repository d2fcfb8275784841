/** Which tools clients list: see ToolView. */
export const CATALOG_MODES = ["auto", "full", "search", "groups"] as const;

export type CatalogMode = (typeof CATALOG_MODES)[number];

/** What a list has now: "auto" chooses one of the others. */
export type ListKind = Exclude<CatalogMode, "auto">;
