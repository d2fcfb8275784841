import { deepFreeze } from "../../../core/text/deep-freeze.js";

/**
 * ESP-IDF's DNS client. The SDK sets a fixed address without a DNS server. The code is `esp32-dns.c`, which mcconfig builds in
 * for an ESP32 and for nothing else.
 */
export const esp32Dns = deepFreeze({
	/** Sets the DNS server of the Wi-Fi, an IPv4 address. Does nothing if ESP-IDF rejects it. */
	set(address: string): void {
		native("xs_esp32dns_set").call(this, address);
	},
});
