// A separate file because mcconfig needs it too: the SDK's typings have this module under another name.

/** TLS over a TCP socket. */
declare module "embedded:io/socket/tcp/tls" {
	const TLSSocket: new (options: object) => object;
	export default TLSSocket;
}
