import type { HttpServerPlatform } from "../../protocols/net/http-server.js";

/** The host's HTTP server. */
export const httpServer: HttpServerPlatform;
