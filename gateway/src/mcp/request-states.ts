import { randomBytes } from "node:crypto";
import {
	createRequestStateCodec,
	type InputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type RequestStateCodec,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { HeldRequests } from "./held-requests.js";

/** The clients' form of a device's `requestState`. */
export interface SignedState {
	/** The key of the catalog of the client that it is for. */
	readonly catalog: string;
	readonly method: string;
	/** The id of the server that it came from, and the name or URI that was asked for. */
	readonly server: string;
	readonly target: string;
	/** The server's own; of a request that is held, its id. */
	readonly state: string;
	/** Whether it is a request that is held for its answer. */
	readonly isHeld?: boolean;
}

/** Seconds for which a client has time to answer. */
const TIME_TO_ANSWER = 600;

/** Signs the `requestState` of devices, so that a client can only send back what it was given, for the same request. */
export class RequestStates {
	/** The requests whose state is in the gateway. */
	readonly held = new HeldRequests();
	readonly #codec: RequestStateCodec<SignedState>;

	/**
	 * @param key 32 bytes or more; gateways with the same one accept each other's states. Default: a random one. Then a client
	 * begins its request again after a restart.
	 */
	constructor(key: string | Uint8Array = randomBytes(32)) {
		this.#codec = createRequestStateCodec<SignedState>({ key, ttlSeconds: TIME_TO_ANSWER });
	}

	/** For `ServerOptions.requestState` of the SDK. */
	readonly verify = (state: string, context: ServerContext): Promise<SignedState> => this.#codec.verify(state, context);

	/** A device's answer that it needs input, for a client. */
	async sign(result: InputRequiredResult, of: Omit<SignedState, "state">): Promise<InputRequiredResult> {
		const { requestState } = result;
		return requestState === undefined
			? result
			: { ...result, requestState: await this.#codec.mint({ ...of, state: requestState }) };
	}

	/**
	 * The device's own state, which the SDK has verified.
	 *
	 * @throws ProtocolError if it was given to another client, or for another request
	 */
	open(signed: SignedState | undefined, of: Omit<SignedState, "state">): string | undefined {
		if (signed === undefined) {
			return undefined;
		}
		const { catalog, method, server, target, state } = signed;
		if (catalog !== of.catalog || method !== of.method || server !== of.server || target !== of.target) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
				reason: "invalid_request_state",
			});
		}
		return state;
	}
}
