/** The SDK's operations on buffers: modules/data/logical. */
declare module "logical" {
	const Logical: {
		/** XORs bytes in place with others, again and again from their start. */
		xor(bytes: Uint8Array, others: Uint8Array): void;
	};
	export default Logical;
}
