import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "../../../host-test/support/testing.js";
import type { SettingName } from "../src/config/settings.js";
import { TokenStore } from "../src/config/token-store.js";
import type { CreateGatewayOptions } from "../src/gateway.js";
import { REBOOT, SET_VOLUME, STATUS, WireDevice } from "./gateway.js";
import { makeStateFolder, openStoreFor, type StartedProgram, sendJson, startProgram } from "./program.js";
import { post } from "./raw-session.js";

export const REDIRECT = "https://client.example/callback";

export interface SignInGateway extends StartedProgram {
	readonly operator: string;
	readonly device: WireDevice;
}

/** A gateway with sign-in, an operator and two devices, lamp_000001 and lamp_000002. */
export async function startSignIn(
	t: TestContext,
	settings: Partial<Record<SettingName, unknown>> = {},
	options: Partial<CreateGatewayOptions> = {},
): Promise<SignInGateway> {
	const stateFolder = makeStateFolder();
	const store = await openStoreFor(t, { ...settings, stateFolder });
	const operator = await new TokenStore(store).add({ name: "me", kind: "client", operator: true });
	const httpPort = await freePort();
	const publicUrl = `http://127.0.0.1:${httpPort}`;
	// A page of the console as small as can be: without one, nobody can sign in to it.
	const consoleFolder = makeStateFolder();
	writeFileSync(join(consoleFolder, "index.html"), "");
	const gateway = await startProgram(t, { publicUrl, httpPort, ...settings }, stateFolder, {
		consoleFolder,
		...options,
	});
	const tools = [SET_VOLUME, REBOOT, STATUS];
	const device = await WireDevice.connect(t, gateway, { tools });
	await WireDevice.connect(t, gateway, { tools, id: "aa:bb:cc:00:00:02" });
	return { ...gateway, operator, device };
}

export const postRegistration = (base: string, metadata: object): Promise<Response> =>
	sendJson("POST", `${base}/oauth/register`, metadata);

export async function register(base: string, metadata: object = {}): Promise<string> {
	const response = await postRegistration(base, { client_name: "Test Client", redirect_uris: [REDIRECT], ...metadata });
	assert.equal(response.status, 201);
	return ((await response.json()) as { client_id: string }).client_id;
}

export function makePkce(): { readonly verifier: string; readonly challenge: string } {
	const verifier = randomBytes(32).toString("base64url");
	return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export function authorizeUrl(
	base: string,
	clientId: string,
	challenge: string,
	more: Record<string, string> = {},
): string {
	const parameters = {
		response_type: "code",
		client_id: clientId,
		redirect_uri: REDIRECT,
		code_challenge: challenge,
		code_challenge_method: "S256",
		state: "some state",
		...more,
	};
	return `${base}/oauth/authorize?${new URLSearchParams(parameters)}`;
}

export async function beginSignIn(base: string, more: Record<string, string> = {}, registeredAt = base) {
	const clientId = await register(registeredAt);
	const { verifier, challenge } = makePkce();
	return {
		clientId,
		verifier,
		challenge,
		url: authorizeUrl(base, clientId, challenge, more),
		/** What it exchanges for tokens, by where the browser was sent back to. */
		exchange: (location: URL | undefined) => ({
			grant_type: "authorization_code",
			client_id: clientId,
			code: location?.searchParams.get("code") as string,
			redirect_uri: REDIRECT,
			code_verifier: verifier,
		}),
	};
}

export interface Page {
	readonly status: number;
	readonly headers: Headers;
	readonly html: string;
	/** The sealed request in its form. */
	readonly request: string;
	readonly location: URL | undefined;
}

/** A browser without script: it keeps cookies, and names the origin of its forms. */
export class Browser {
	readonly #base: string;
	readonly #headers: Readonly<Record<string, string>>;
	readonly #cookies = new Map<string, string>();

	constructor(base: string, headers: Readonly<Record<string, string>> = {}) {
		this.#base = base;
		this.#headers = headers;
	}

	async open(url: string, init: RequestInit = {}): Promise<Page> {
		const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
		const headers = { ...this.#headers, ...(cookie && { cookie }), ...(init.headers as Record<string, string>) };
		const response = await fetch(url, { ...init, headers, redirect: "manual" });
		for (const line of response.headers.getSetCookie()) {
			const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
			this.#cookies.set(name, value);
		}
		const html = await response.text();
		const location = response.headers.get("location");
		return {
			status: response.status,
			headers: response.headers,
			html,
			request: /name="request" value="([^"]+)"/.exec(html)?.[1] ?? "",
			location: location === null ? undefined : new URL(location),
		};
	}

	async submit(
		fields: Record<string, string> | [string, string][],
		headers: Record<string, string> = {},
	): Promise<Page> {
		return await this.open(`${this.#base}/oauth/authorize`, {
			method: "POST",
			body: new URLSearchParams(fields),
			headers: { Origin: this.#base, ...headers },
		});
	}

	/** Goes to the page, proves to be the operator by a token or code, and allows what the fields say. */
	async approve(url: string, secret: string, choice: Record<string, string> | [string, string][] = {}): Promise<URL> {
		const first = await this.open(url);
		assert.equal(first.status, 200, first.html);
		const second = await this.submit({ request: first.request, secret, answer: "go" });
		assert.equal(second.status, 200, second.html);
		const chosen = Array.isArray(choice) ? choice : Object.entries(choice);
		const fields: [string, string][] = [["request", second.request], ["answer", "go"], ...chosen];
		const isGiven = (name: string) => chosen.some(([each]) => each === name);
		const all = [...fields, ...(isGiven("tools") ? [] : [["tools", "control"] as [string, string]])];
		const { location, html } = await this.submit(all);
		assert.ok(location, html);
		return location;
	}
}

export async function openPage(base: string) {
	const browser = new Browser(base);
	return { browser, ...(await browser.open((await beginSignIn(base)).url)) };
}

interface TokenResponse {
	readonly status: number;
	readonly body: { access_token: string; refresh_token: string; scope: string; error: string; expires_in: number };
}

export async function askTokens(base: string, fields: Record<string, string>): Promise<TokenResponse> {
	const response = await fetch(`${base}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) });
	return { status: response.status, body: (await response.json()) as TokenResponse["body"] };
}

export async function signIn(
	{ base, operator }: Pick<SignInGateway, "base" | "operator">,
	choice: Record<string, string> | [string, string][] = {},
	more: Record<string, string> = {},
) {
	const begun = await beginSignIn(base, more);
	const { clientId } = begun;
	const location = await new Browser(base).approve(begun.url, operator, choice);
	const exchange = begun.exchange(location);
	const { status, body } = await askTokens(base, exchange);
	assert.equal(status, 200, JSON.stringify(body));
	return { clientId, exchange, location, access: body.access_token, refresh: body.refresh_token, body };
}

export async function statusOf(base: string, token: string, path = "/mcp"): Promise<number> {
	const response = await post(base + path, { method: "tools/list" }, { Authorization: `Bearer ${token}` });
	await response.body?.cancel();
	return response.status;
}
