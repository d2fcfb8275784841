/** ECMA-419's UDP socket (§12.4), without multicast. */
export interface UdpSocket {
	/** Takes a datagram, with its sender. */
	read(): (ArrayBuffer & { readonly address: string; readonly port: number }) | undefined;
	/** Sends a datagram to an IP address. */
	write(data: ArrayBuffer, address: string, port: number): void;
	close(): void;
}

/** ECMA-419's record for a UDP socket. Port 0 is any free one. */
export interface UdpRecord {
	readonly io: new (options: { port: number; onReadable: (count: number) => void }) => UdpSocket;
}
