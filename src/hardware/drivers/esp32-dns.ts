import { deepFreeze } from "../../core/text/deep-freeze.js";

/** ESP-IDF's DNS client, as the SDK's fixed address has no server: `esp32-dns.c`, built for an ESP32 only. */
export const esp32Dns = deepFreeze({
	/** Sets the DNS server of the Wi-Fi, an IPv4 address. Does nothing if ESP-IDF rejects it. */
	set(address: string): void {
		native("xs_esp32dns_set").call(this, address);
	},
});
