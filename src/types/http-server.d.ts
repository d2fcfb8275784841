import type { HttpServerPlatform } from "../protocols/http-server.js";

/** The host's HTTP server. */
export const httpServer: HttpServerPlatform;
