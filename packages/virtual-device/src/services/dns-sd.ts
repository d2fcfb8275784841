import { Bonjour } from "bonjour-service";
import type { Open } from "./connections.js";

/** Finds services on the network for the firmware, by multicast DNS, at an interface's address; empty: at every one. */
export const searchDnsSd: Open = (args, tell) => {
	const [serviceType, address] = args as [string, string];
	const [, type = "", protocol = "tcp"] = /^_(.+)\._(tcp|udp)$/.exec(serviceType) ?? [];
	// A socket bound to an interface's address would receive no multicast.
	const options = address === "" ? {} : { interface: address, bind: "0.0.0.0" };
	const search = new Bonjour(options as object, ({ message }: Error) => tell("failed", [message]));
	search.find({ type, protocol: protocol as "tcp" | "udp" }, ({ name, host, port, addresses = [], txt }) => {
		const found = { name, host, port, address: addresses.find((each) => each.includes(".")) ?? "" };
		tell("found", [found, Object.entries((txt ?? {}) as object)]);
	});
	const close = (): void => search.destroy();
	return { close, destroy: close };
};
