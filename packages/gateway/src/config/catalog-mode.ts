/** Which tools clients list: see ToolView. */
export const CATALOG_MODES = ["auto", "full", "search", "groups"] as const;

export type CatalogMode = (typeof CATALOG_MODES)[number];

/** The kind of list in use: "auto" chooses one of the others. */
export type ListKind = Exclude<CatalogMode, "auto">;
