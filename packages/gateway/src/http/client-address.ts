import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { TLSSocket } from "node:tls";

/** Finds out the network address that a request comes from, for logs and limits. */
export class ClientAddresses {
	readonly #trusted = new BlockList();

	/** @param trustProxy addresses and CIDR ranges of proxies, whose `X-Forwarded-For` is trusted */
	constructor(trustProxy: readonly string[]) {
		for (const range of trustProxy) {
			const [address = "", prefix] = range.split("/");
			const family = familyOf(address);
			if (prefix === undefined) {
				this.#trusted.addAddress(address, family);
			} else {
				this.#trusted.addSubnet(address, Number(prefix), family);
			}
		}
	}

	/** The last address on the way that is not a trusted proxy: what stands before it could be made up. */
	of({ socket, headers }: IncomingMessage): string {
		let address = socket.remoteAddress ?? "unknown";
		const forwarded = [headers["x-forwarded-for"] ?? ""].flat().join(",").split(",");
		for (let hop = forwarded.pop(); hop && this.#isTrusted(address); hop = forwarded.pop()) {
			if (isIP(hop.trim()) === 0) {
				break;
			}
			address = hop.trim();
		}
		return address;
	}

	/** Whether the client speaks TLS: with the gateway, or with a trusted proxy that says so. */
	isSecure({ socket, headers }: IncomingMessage): boolean {
		const said = [headers["x-forwarded-proto"] ?? ""].flat().join(",").split(",").pop()?.trim();
		return (
			(socket as TLSSocket).encrypted === true || (said === "https" && this.#isTrusted(socket.remoteAddress ?? ""))
		);
	}

	#isTrusted(address: string): boolean {
		return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
	}
}

function familyOf(address: string): "ipv4" | "ipv6" {
	return isIP(address) === 6 ? "ipv6" : "ipv4";
}
