import { findSdk, NO_SDK, type Sdk } from "../../scripts/moddable/sdk.js";

/** Moddable's SDK, for tests that {@link noSdk} skips where it is not. */
export const sdk = findSdk() as Sdk;

/** For the option `skip`: why there is no SDK. */
export const noSdk: string | false = sdk === undefined && NO_SDK;
