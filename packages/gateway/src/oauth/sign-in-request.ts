import * as z from "zod";
import { digest } from "../config/digest.js";
import type { DeviceKey } from "../devices/device-key.js";

/** Milliseconds in which a person can answer. */
const LIFETIME = 600_000;

const REQUEST = z.object({
	/** Random. It is approved once. */
	id: z.string(),
	client: z.object({ id: z.string(), name: z.string(), redirectUris: z.array(z.string()).readonly() }),
	redirectUri: z.string(),
	state: z.string().optional(),
	challenge: z.string(),
	audience: z.string(),
	scope: z.string(),
	/** Operator who may approve it; undefined until recognized. */
	operator: z.string().optional(),
});

/** A client's request to sign in, while a person looks at it: RFC 6749 section 4.1.1. */
export type SignInRequest = z.infer<typeof REQUEST>;

const SEALED = z.object({ request: REQUEST, browser: z.string(), expires: z.number() });

/** Keeps requests in the form that the person fills in, sealed, so that strangers cannot fill the gateway's memory. */
export class SignInRequests {
	readonly #key: DeviceKey;
	readonly #clock: { readonly now: number };

	/** @param clock the time that every gateway goes by, in milliseconds since 1970: another one may open what this one has sealed */
	constructor(key: DeviceKey, clock: { readonly now: number }) {
		this.#key = key;
		this.#clock = clock;
	}

	/** @param browser a secret of the browser that shows the form */
	seal(request: SignInRequest, browser: string): string {
		const sealed = { request, browser: digest(browser), expires: this.#clock.now + LIFETIME };
		const text = Buffer.from(JSON.stringify(sealed)).toString("base64url");
		return `${text}.${this.#key.derive("oauth request", text)}`;
	}

	/** @returns undefined if it is not sealed by this gateway for this browser, or is too old */
	open(sealed: string, browser: string): SignInRequest | undefined {
		const [text = "", code = ""] = sealed.split(".");
		if (!this.#key.verify(code, "oauth request", text)) {
			return undefined;
		}
		const content = SEALED.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
		return content.expires > this.#clock.now && content.browser === digest(browser) ? content.request : undefined;
	}
}
