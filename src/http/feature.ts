import type { Http } from "../hardware/hardware.js";
import { EcmaHttp } from "./ecma-http.js";
import type { ExchangeOptions } from "./http-exchange.js";

/** The part `http`. */
export default (options: ExchangeOptions): Http => new EcmaHttp(options);
