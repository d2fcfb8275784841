import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { isMade, RateLimit } from "xs-mcp-manager/core";
import type { Configuration } from "../../config/settings.js";
import { TOKEN_PREFIX } from "../../config/token-store.js";
import type { RunningGateway } from "../../gateway.js";
import { GatewayError } from "../../gateway-error.js";

interface DeviceIdentity {
	readonly deviceId: string;
	/** Its UUID, which it generates and keeps: another device with the same id has another one. */
	readonly clientId: string;
}

/** A device's request to be bound. */
interface BindingRequest extends DeviceIdentity {
	/** Its description of itself, for the operator. */
	readonly board: string;
	readonly version: string;
	/** The network address of its request. */
	readonly address: string;
}

/** A device that waits for the operator. */
export interface PendingBinding extends BindingRequest {
	/** Six digits, which the device shows. */
	readonly code: string;
	/** For devices that prove a serial number. The gateway does not know their keys, so it does not check the proof. */
	readonly challenge: string;
	/** Random text from which its token is derived. */
	readonly salt: string;
	/** When the code is no longer valid, in milliseconds since 1970. */
	readonly expires: number;
}

/** Parts of the gateway that bindings use. The short-lived store has the waiting devices of all gateways of a cluster. */
type Host = Pick<RunningGateway, "tokens" | "key" | "shortLived" | "log"> & {
	readonly settings: Pick<Configuration, "bootstrap" | "maxDevices">;
};

/** In the store: a waiting device by its code. Each gateway derives its token. */
const PENDING = "pending/";

/** Milliseconds for which a code is valid. */
const CODE_LIFETIME = 600_000;

/** Most devices that wait for the operator: in all, and from one address. */
const MAX_PENDING = 128;
const MAX_PENDING_PER_ADDRESS = 16;

/** Most devices bound per second without the operator: each changes the token file. */
const MAX_BOUND_PER_SECOND = 10;

/** The devices that are bound to a gateway, or wait for that. */
export type DeviceBindings = ReturnType<typeof makeBindings>;

/**
 * Binds devices to the gateway: each gets its own token. It is derived from a key, so that a device that asks again
 * gets the same one, although only its hash is stored.
 */
export function makeBindings(gateway: Host) {
	const { tokens, settings, shortLived: store, key, log } = gateway;
	const rate = new RateLimit(MAX_BOUND_PER_SECOND);

	/** The devices that wait for the operator, in the order in which they asked. */
	const pending = (): readonly PendingBinding[] =>
		store
			.list(PENDING)
			.map(({ value }) => value as PendingBinding)
			.filter(({ expires }) => expires > store.now)
			.sort((one, other) => one.expires - other.expires);

	/** The token of a bound device; undefined if the device is not bound, or another one with the same id is. */
	const tokenOf = ({ deviceId, clientId }: DeviceIdentity): string | undefined => {
		const record = tokens.boundTo(deviceId);
		if (record?.salt === undefined) {
			return undefined;
		}
		const secret = derive({ deviceId, clientId }, record.salt);
		return tokens.verify("device", secret) === record ? secret : undefined;
	};

	/** The waiting device; undefined if it is not waiting, or its code has expired. */
	const pendingOf = ({ deviceId, clientId }: DeviceIdentity): PendingBinding | undefined =>
		pending().find((each) => each.deviceId === deviceId && each.clientId === clientId);

	/** Removes the device that waits with a code, for one of several requests. */
	const take = async (code: string): Promise<PendingBinding | undefined> => {
		const entry = store.get(PENDING + code);
		const pending = entry?.value as PendingBinding | undefined;
		const isTaken = entry !== undefined && (await isMade(store.delete(entry.key, entry.revision)));
		return isTaken && pending !== undefined && pending.expires > store.now ? pending : undefined;
	};

	const put = (pending: PendingBinding) => store.set(PENDING + pending.code, pending, 0);

	/** Binds a device. Returns its token; undefined if another device has its id. */
	const bind = async (device: DeviceIdentity, salt: string, replaces = false): Promise<string | undefined> => {
		const { maxDevices } = settings;
		if (tokens.boundTo(device.deviceId) === undefined && tokens.size >= maxDevices) {
			throw full(`device limit (maxDevices ${maxDevices}) reached: remove unused tokens`);
		}
		const token = derive(device, salt);
		return (await tokens.bind(device.deviceId, token, salt, { replaces })) ? token : undefined;
	};

	const wait = async (request: BindingRequest): Promise<PendingBinding> => {
		const waiting = pending();
		const ofAddress = waiting.filter(({ address }) => address === request.address);
		if (waiting.length >= MAX_PENDING || ofAddress.length >= MAX_PENDING_PER_ADDRESS) {
			throw full("too many devices await approval; run: xs-mcp-gateway devices pending");
		}
		const expires = store.now + CODE_LIFETIME;
		const binding = { ...request, code: newCode(), challenge: randomUUID(), salt: makeSalt(), expires };
		await put(binding);
		const { deviceId: device, board, address, code } = binding;
		log.info({ device, board, address }, `a new device awaits approval; run: xs-mcp-gateway devices approve ${code}`);
		for (const { key, value, revision } of store.list(PENDING)) {
			if ((value as PendingBinding).expires <= store.now) {
				await store.delete(key, revision).catch(() => {});
			}
		}
		return binding;
	};

	const newCode = (): string => {
		for (;;) {
			const code = String(randomInt(1_000_000)).padStart(6, "0");
			if (store.get(PENDING + code) === undefined) {
				return code;
			}
		}
	};

	const derive = ({ deviceId, clientId }: DeviceIdentity, salt: string): string =>
		TOKEN_PREFIX + key.derive("token", salt, deviceId, clientId);

	return {
		get pending() {
			return pending();
		},
		tokenOf,
		pendingOf,
		/** Returns the token of a waiting device, which is valid once the operator has approved it. */
		futureTokenOf: (pending: PendingBinding): string => derive(pending, pending.salt),
		/**
		 * Binds a device if every device may be bound, else has it wait for the operator. A device that waits keeps its code.
		 * One that has the id of a bound device, but another UUID, always waits: it would replace the other.
		 *
		 * Rejects with GatewayError, or StoreError.
		 *
		 * @returns its token, or its pending code
		 */
		async request(request: BindingRequest): Promise<string | PendingBinding> {
			if (settings.bootstrap === "closed") {
				throw new GatewayError("forbidden", "this gateway does not accept new devices (setting bootstrap)");
			}
			if (settings.bootstrap === "approve" || tokens.boundTo(request.deviceId) !== undefined) {
				return pendingOf(request) ?? wait(request);
			}
			if (!rate.take()) {
				throw full(`too many new devices (limit ${MAX_BOUND_PER_SECOND} a second)`);
			}
			// Another request for the same id may have been faster.
			return (await bind(request, makeSalt())) ?? tokenOf(request) ?? pendingOf(request) ?? wait(request);
		},
		/** Binds the device that waits with a code; undefined if none does. Rejects with GatewayError, or StoreError. */
		async approve(code: string): Promise<PendingBinding | undefined> {
			const pending = await take(code);
			try {
				await (pending && bind(pending, pending.salt, true));
				return pending;
			} catch (error) {
				await (pending && put(pending).catch(() => {}));
				throw error;
			}
		},
		/** Removes the device that waits with a code. Returns whether it existed. Rejects with StoreError. */
		reject: async (code: string): Promise<boolean> => (await take(code)) !== undefined,
	};
}

/** The device cannot be bound now. */
function full(message: string): GatewayError {
	return new GatewayError("busy", message, { headers: { "Retry-After": "60" } });
}

function makeSalt(): string {
	return randomBytes(16).toString("hex");
}
