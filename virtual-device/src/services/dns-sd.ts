import { Bonjour } from "bonjour-service";
import type { Deliver, Service } from "./service.js";

/** Finds services on the network for the firmware, by multicast DNS. */
export class DnsSd implements Service {
	readonly prefix = "dnssd";
	readonly #deliver: Deliver;
	readonly #searches = new Map<number, Bonjour>();

	constructor(deliver: Deliver) {
		this.#deliver = deliver;
	}

	take(kind: string, args: readonly unknown[]): void {
		const [id, serviceType, address] = args as [number, string, string];
		if (kind === "discover") {
			this.#discover(id, serviceType, address);
		} else {
			this.#searches.get(id)?.destroy();
			this.#searches.delete(id);
		}
	}

	close(): void {
		for (const search of this.#searches.values()) {
			search.destroy();
		}
		this.#searches.clear();
	}

	/** @param address of the network interface; empty: every one */
	#discover(id: number, serviceType: string, address: string): void {
		const [, type = "", protocol = "tcp"] = /^_(.+)\._(tcp|udp)$/.exec(serviceType) ?? [];
		// A socket bound to an interface's address would receive no multicast.
		const options = address === "" ? {} : { interface: address, bind: "0.0.0.0" };
		const search = new Bonjour(options as object, ({ message }: Error) =>
			this.#deliver({ header: ["dnssd.failed", message] }),
		);
		this.#searches.set(id, search);
		search.find({ type, protocol: protocol as "tcp" | "udp" }, ({ name, host, port, addresses = [], txt }) => {
			const found = { name, host, port, address: addresses.find((each) => each.includes(".")) ?? "" };
			this.#deliver({ header: ["dnssd.found", id, found, Object.entries((txt ?? {}) as object)] });
		});
	}
}
