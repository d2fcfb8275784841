/** The line of a DHT11 or DHT22 on an ESP32: `esp32-dht.c`. */
export default class DhtLine extends Native("xs_dht_destructor") {
	/** @throws Error if the chip has no free RMT channel */
	constructor({ pin }: { readonly pin: number }) {
		super();
		this.open(pin);
	}

	/** Pulls the line low, for 20 ms. */
	wake(): void {
		native("xs_dht_wake").call(this);
	}

	/** Releases the line, and records the answer. It is there after 10 ms. */
	listen(): void {
		native("xs_dht_listen").call(this);
	}

	/** Returns the five bytes of the answer; undefined without one. */
	read(): ArrayBuffer | undefined {
		return native("xs_dht_read").call(this) as ArrayBuffer | undefined;
	}

	close(): void {
		native("xs_dht_close").call(this);
	}

	private open(pin: number): void {
		native("xs_dht_open").call(this, pin);
	}
}
