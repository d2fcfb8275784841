import { z } from "zod";
import { TokenError, type TokenStore } from "../../config/token-store.js";
import type { TokenUses } from "../../config/token-uses.js";
import { readJson } from "../server/body.js";
import { HttpError } from "../server/http-error.js";
import type { Route } from "../server/route.js";
import type { TokenSummary } from "./messages.js";

const NEW_TOKEN = z.strictObject({
	name: z.string(),
	kind: z.enum(["client", "device"]),
	devices: z.array(z.string().min(1).max(128)).min(1).max(1_000).optional(),
	userTools: z.boolean().optional(),
	operator: z.boolean().optional(),
	readOnly: z.boolean().optional(),
	expires: z.iso.datetime().optional(),
});

/** `GET /tokens`: the tokens, without their secrets. */
export function listTokens(tokens: TokenStore, uses: TokenUses): Route {
	return (c) => {
		tokens.refresh();
		const list = tokens.records.map((record): TokenSummary => {
			const { sha256: _, salt: __, ...rest } = record;
			const lastUsed = uses.lastUse(record);
			return { ...rest, ...(lastUsed !== undefined && { lastUsed }) };
		});
		return c.json({ tokens: list });
	};
}

/** `POST /tokens`: creates a token. The answer is the only one that has it. */
export function addToken(tokens: TokenStore, maxBodyBytes: number): Route {
	return async (c) => {
		const { data, error } = NEW_TOKEN.safeParse(await readJson(c.env.incoming, maxBodyBytes));
		if (data === undefined) {
			const [issue] = error.issues;
			throw new HttpError(400, "malformed", `${issue?.path.join(".") || "token"}: ${issue?.message}`);
		}
		const { kind, userTools, operator, readOnly, expires } = data;
		if (kind === "device" && (userTools || operator || readOnly || expires !== undefined)) {
			const message = "a device's token has no user tools, is no operator's, not read-only and does not expire";
			throw new HttpError(400, "malformed", message);
		}
		if (operator && data.devices !== undefined) {
			throw new HttpError(400, "malformed", "an operator's token is for all devices");
		}
		if (operator && readOnly) {
			throw new HttpError(400, "malformed", "an operator's token is not read-only");
		}
		return c.json({ token: await translated(() => tokens.add(data)) }, 201);
	};
}

/** `DELETE /tokens/NAME`: whoever uses it is disconnected within a second. */
export function removeToken(tokens: TokenStore): Route {
	return async (c) => {
		await translated(() => tokens.remove(c.req.param("name") ?? ""));
		return c.body(null, 204);
	};
}

async function translated<T>(change: () => Promise<T>): Promise<T> {
	try {
		return await change();
	} catch (error) {
		throw error instanceof TokenError ? new HttpError(400, "malformed", error.message) : error;
	}
}
