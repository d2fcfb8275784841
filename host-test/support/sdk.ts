import { findSdk, NO_SDK, type Sdk } from "../../packages/xs-mcp/src/moddable/sdk.js";

export const sdk = findSdk() as Sdk;

/** For the option `skip`: why there is no SDK. */
export const noSdk: string | false = sdk === undefined && NO_SDK;
