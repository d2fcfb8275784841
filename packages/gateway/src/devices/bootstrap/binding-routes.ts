import type { Hono } from "hono";
import { HttpError } from "../../http/http-error.js";
import { allow, type HttpEnv, needsOperator } from "../../http/route.js";
import type { DeviceBindings, PendingBinding } from "./device-bindings.js";

/** A device that waits to be bound, as `GET /bindings` describes it. */
export interface BindingSummary {
	readonly code: string;
	/** Its id. */
	readonly device: string;
	readonly board: string;
	readonly version: string;
	/** The network address of its request. */
	readonly address: string;
	/** When its code is no longer valid, ISO 8601. */
	readonly expires: string;
}

/**
 * Serves the devices that wait to be bound, to operators.
 *
 * - `GET /bindings` lists them.
 * - `POST /bindings/CODE` binds the device that shows this code, `DELETE /bindings/CODE` rejects it.
 */
export function addBindingRoutes(app: Hono<HttpEnv>, bindings: DeviceBindings): void {
	app.use("/bindings/*", needsOperator);
	app.all("/bindings", allow("GET"), (c) => c.json({ pending: bindings.pending.map(bindingSummary) }));
	app.all("/bindings/:code", allow("POST", "DELETE"));
	app.post("/bindings/:code", async (c) => {
		const approved = await bindings.approve(c.req.param("code"));
		if (approved === undefined) {
			throw noBinding();
		}
		return c.json({ device: approved.deviceId });
	});
	app.delete("/bindings/:code", async (c) => {
		if (!(await bindings.reject(c.req.param("code")))) {
			throw noBinding();
		}
		return c.body(null, 204);
	});
}

/** A pending binding, without its token. */
export function bindingSummary({ code, deviceId, board, version, address, expires }: PendingBinding): BindingSummary {
	return { code, device: deviceId, board, version, address, expires: new Date(expires).toISOString() };
}

function noBinding(): HttpError {
	return new HttpError(404, "not-found", "unknown or expired code");
}
