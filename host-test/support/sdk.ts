import { findSdk, NO_SDK, type Sdk } from "xs-mcp/moddable/sdk";

export const sdk = findSdk() as Sdk;

/** Reason why there is no SDK, for the option `skip`. */
export const noSdk: string | false = sdk === undefined && NO_SDK;
