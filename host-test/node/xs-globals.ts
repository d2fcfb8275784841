// What XS has and Node has not, for the suites and the firmware's modules when they run on Node.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

Object.assign(ArrayBuffer, { fromString: (text: string) => encoder.encode(text).buffer });
Object.assign(String, { fromArrayBuffer: (bytes: ArrayBuffer) => decoder.decode(bytes) });
Object.assign(globalThis, { trace: () => {} });
