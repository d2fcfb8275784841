import { ICONS } from "../catalog/icons.js";
import { GATEWAY_INFO, GATEWAY_TITLE } from "../version.js";

/** The gateway's description of itself for clients. Earlier revisions get less of it. */
export const SERVER_INFO = { ...GATEWAY_INFO, title: GATEWAY_TITLE, icons: [...ICONS.chip] };
