import { publicOrigin } from "../config/public-origin.js";
import type { Configuration } from "../config/settings.js";
import { OutsideIssuer } from "./outside-issuer.js";
import { ProtectedResource } from "./protected-resource.js";
import type { SignIn } from "./sign-in.js";

/** Sign-in as it is configured; undefined if it is off. */
export function openSignIn(configuration: Configuration): SignIn | undefined {
	const { publicUrl, issuer, ...rest } = configuration;
	const origin = publicOrigin(publicUrl);
	if (origin === undefined || issuer === undefined) {
		return undefined;
	}
	const resource = new ProtectedResource(origin, issuer);
	return { resource, issuer: new OutsideIssuer({ ...rest, issuer }, resource), isRequired: true };
}
