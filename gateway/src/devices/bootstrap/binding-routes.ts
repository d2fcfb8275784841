import { HttpError } from "../../http/http-error.js";
import type { Route } from "../../http/route.js";
import type { DeviceBindings, PendingBinding } from "./device-bindings.js";
import { BindingRejected } from "./device-bindings.js";

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

/** `GET /bindings`: the devices that wait to be bound. */
export function listBindings(bindings: DeviceBindings): Route {
	return (c) => c.json({ pending: bindings.pending.map(bindingSummary) });
}

/** `POST /bindings/CODE`: binds the device that shows this code. */
export function approveBinding(bindings: DeviceBindings): Route {
	return async (c) => {
		try {
			const approved = await bindings.approve(c.req.param("code") ?? "");
			if (approved === undefined) {
				throw noBinding();
			}
			return c.json({ device: approved.deviceId });
		} catch (error) {
			throw error instanceof BindingRejected ? new HttpError(503, "busy", error.message) : error;
		}
	};
}

/** `DELETE /bindings/CODE`: rejects the device. */
export function rejectBinding(bindings: DeviceBindings): Route {
	return (c) => {
		if (!bindings.reject(c.req.param("code") ?? "")) {
			throw noBinding();
		}
		return c.body(null, 204);
	};
}

/** A pending binding, without its token. */
export function bindingSummary({ code, deviceId, board, version, address, expires }: PendingBinding): BindingSummary {
	return { code, device: deviceId, board, version, address, expires: new Date(expires).toISOString() };
}

function noBinding(): HttpError {
	return new HttpError(404, "not-found", "unknown or expired code");
}
