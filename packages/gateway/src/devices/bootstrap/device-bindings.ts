import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { type Entry, isMade, RateLimit, type Store } from "xs-mcp-manager/core";
import { TOKEN_PREFIX, type TokenStore } from "../../config/token-store.js";
import type { DeviceKey } from "../device-key.js";

/**
 * Which devices may bind themselves: all whose id is not bound yet ("open"), devices that the operator approves, or none. */
type BindingMode = "open" | "approve" | "closed";

/** A device's request to be bound. */
export interface BindingRequest {
	readonly deviceId: string;
	/** Its UUID, which it generates and keeps: another device with the same id has another one. */
	readonly clientId: string;
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
	/** Its token, which is valid once the operator has approved the device. */
	readonly token: string;
	/** The key from which tokens are derived. */
	readonly salt: string;
	/** When the code is no longer valid, in milliseconds since 1970. */
	readonly expires: number;
}

/** The device cannot be bound now. */
export class BindingRejected extends Error {
	readonly reason: "closed" | "full";

	constructor(reason: "closed" | "full", message: string) {
		super(message);
		this.name = "BindingRejected";
		this.reason = reason;
	}
}

interface DeviceBindingsOptions {
	readonly mode: BindingMode;
	readonly tokens: TokenStore;
	readonly key: DeviceKey;
	/** Most bound devices. */
	readonly maxDevices: number;
	/** Has the devices that wait, for every gateway of a cluster. */
	readonly store: Store;
	/** Called with each device that starts to wait for the operator. */
	readonly onPending?: (pending: PendingBinding) => void;
}

/** In the store: a waiting device by its code, without its token, which each gateway derives. */
const PENDING = "pending/";

/** Milliseconds for which a code is valid. */
const CODE_LIFETIME = 600_000;

/** Most devices that wait for the operator: in all, and from one address. */
const MAX_PENDING = 128;
const MAX_PENDING_PER_ADDRESS = 16;

/** Most devices bound per second without the operator: each changes the token file. */
const MAX_BOUND_PER_SECOND = 10;

/**
 * Binds devices to the gateway: each gets its own token. It is derived from a key, so that a device that asks again
 * gets the same one, although only its hash is stored.
 */
export class DeviceBindings {
	readonly #options: DeviceBindingsOptions;
	readonly #rate = new RateLimit(MAX_BOUND_PER_SECOND);

	constructor(options: DeviceBindingsOptions) {
		this.#options = options;
	}

	/** The devices that wait for the operator, in the order in which they asked. */
	get pending(): readonly PendingBinding[] {
		const { store } = this.#options;
		return store
			.list(PENDING)
			.map((entry) => this.#pendingIn(entry))
			.filter(({ expires }) => expires > store.now)
			.sort((one, other) => one.expires - other.expires);
	}

	/** The token of a bound device; undefined if the device is not bound, or another one with the same id is. */
	tokenOf({ deviceId, clientId }: Pick<BindingRequest, "deviceId" | "clientId">): string | undefined {
		const { tokens } = this.#options;
		const record = tokens.boundTo(deviceId);
		if (record?.salt === undefined) {
			return undefined;
		}
		const secret = this.#derive({ deviceId, clientId }, record.salt);
		return tokens.verify("device", secret) === record ? secret : undefined;
	}

	/** The waiting device; undefined if it is not waiting, or its code has expired. */
	pendingOf({ deviceId, clientId }: Pick<BindingRequest, "deviceId" | "clientId">): PendingBinding | undefined {
		return this.pending.find((each) => each.deviceId === deviceId && each.clientId === clientId);
	}

	/**
	 * Binds a device if every device may be bound, else has it wait for the operator. A device that waits keeps its code.
	 * One that has the id of a bound device, but another UUID, always waits: it would replace the other.
	 *
	 * Rejects with BindingRejected, or StoreError.
	 *
	 * @returns its token, or its pending code
	 */
	async request(request: BindingRequest): Promise<string | PendingBinding> {
		const { mode } = this.#options;
		if (mode === "closed") {
			throw new BindingRejected("closed", "this gateway does not accept new devices (setting bootstrap)");
		}
		if (mode === "approve" || this.#options.tokens.boundTo(request.deviceId) !== undefined) {
			return this.pendingOf(request) ?? this.#wait(request);
		}
		if (!this.#rate.take()) {
			throw new BindingRejected("full", `too many new devices (limit ${MAX_BOUND_PER_SECOND} a second)`);
		}
		const salt = makeSalt();
		const token = this.#derive(request, salt);
		// Another request for the same id may have been faster.
		const isBound = await this.#bind(request, token, salt);
		return isBound ? token : (this.tokenOf(request) ?? this.pendingOf(request) ?? this.#wait(request));
	}

	/** Binds the device that waits with a code; undefined if none does. Rejects with BindingRejected, or StoreError. */
	async approve(code: string): Promise<PendingBinding | undefined> {
		const pending = await this.#take(code);
		try {
			await (pending && this.#bind(pending, pending.token, pending.salt, { replaces: true }));
			return pending;
		} catch (error) {
			await (pending && this.#put(pending).catch(() => {}));
			throw error;
		}
	}

	/** Removes the device that waits with a code. Returns whether it existed. Rejects with StoreError. */
	async reject(code: string): Promise<boolean> {
		return (await this.#take(code)) !== undefined;
	}

	/** Removes the device that waits with a code, for one of several requests. */
	async #take(code: string): Promise<PendingBinding | undefined> {
		const { store } = this.#options;
		const entry = store.get(PENDING + code);
		const pending = entry && this.#pendingIn(entry);
		const isTaken = entry !== undefined && (await isMade(store.delete(entry.key, entry.revision)));
		return isTaken && pending !== undefined && pending.expires > store.now ? pending : undefined;
	}

	async #put({ token: _, ...pending }: PendingBinding): Promise<void> {
		await this.#options.store.set(PENDING + pending.code, pending, 0);
	}

	#pendingIn({ value }: Entry): PendingBinding {
		const pending = value as Omit<PendingBinding, "token">;
		return { ...pending, token: this.#derive(pending, pending.salt) };
	}

	async #bind(
		{ deviceId }: BindingRequest,
		token: string,
		salt: string,
		options?: { replaces: boolean },
	): Promise<boolean> {
		const { tokens, maxDevices } = this.#options;
		if (tokens.boundTo(deviceId) === undefined && tokens.size >= maxDevices) {
			throw new BindingRejected("full", `device limit (maxDevices ${maxDevices}) reached: remove unused tokens`);
		}
		return await tokens.bind(deviceId, token, salt, options);
	}

	async #wait(request: BindingRequest): Promise<PendingBinding> {
		const { store } = this.#options;
		const { pending } = this;
		const ofAddress = pending.filter(({ address }) => address === request.address);
		if (pending.length >= MAX_PENDING || ofAddress.length >= MAX_PENDING_PER_ADDRESS) {
			throw new BindingRejected("full", "too many devices await approval; run: xs-mcp-gateway devices pending");
		}
		const salt = makeSalt();
		const binding = {
			...request,
			code: this.#newCode(),
			challenge: randomUUID(),
			token: this.#derive(request, salt),
			salt,
			expires: store.now + CODE_LIFETIME,
		};
		await this.#put(binding);
		this.#options.onPending?.(binding);
		for (const entry of store.list(PENDING).filter((each) => this.#pendingIn(each).expires <= store.now)) {
			await store.delete(entry.key, entry.revision).catch(() => {});
		}
		return binding;
	}

	#newCode(): string {
		for (;;) {
			const code = String(randomInt(1_000_000)).padStart(6, "0");
			if (this.#options.store.get(PENDING + code) === undefined) {
				return code;
			}
		}
	}

	#derive({ deviceId, clientId }: Pick<BindingRequest, "deviceId" | "clientId">, salt: string): string {
		return TOKEN_PREFIX + this.#options.key.derive("token", salt, deviceId, clientId);
	}
}

function makeSalt(): string {
	return randomBytes(16).toString("hex");
}
