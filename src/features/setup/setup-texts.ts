import { byLanguage } from "../../core/text/by-language.js";

/** Texts of the set-up page, the screen and the log. `{name}` is a placeholder. */
export const SETUP_TEXTS = byLanguage({
	title: ["Set up the device", "デバイスの設定", "设置设备"],
	intro: [
		"Choose the Wi-Fi that {name} uses, and the server that it connects to.",
		"{name} が使う Wi-Fi と、接続先のサーバーを選んでください。",
		"请选择 {name} 使用的 Wi-Fi，以及要连接的服务器。",
	],
	safeMode: [
		"The device restarted again and again, so it runs in safe mode: nothing but set-up and update works.",
		"再起動を繰り返したため、セーフモードで動いています。設定と更新だけが使えます。",
		"设备反复重启，已进入安全模式：只能设置和更新。",
	],
	language: ["Language", "言語", "语言"],
	wifi: ["Wi-Fi", "Wi-Fi", "Wi-Fi"],
	networks: ["Networks found", "見つかったネットワーク", "找到的网络"],
	searching: ["Searching for networks …", "ネットワークを検索中…", "正在搜索网络…"],
	noNetwork: ["No network found.", "ネットワークが見つかりません。", "没有找到网络。"],
	searchAgain: ["Search again", "もう一度検索", "重新搜索"],
	secured: ["{name}, needs a password", "{name}、パスワードが必要", "{name}，需要密码"],
	open: ["{name}, open", "{name}、パスワード不要", "{name}，无需密码"],
	signal: ["signal {name} of 4", "電波の強さ {name}/4", "信号强度 {name}/4"],
	ssid: ["Network name", "ネットワーク名", "网络名称"],
	password: ["Password", "パスワード", "密码"],
	passwordHint: [
		"Leave it empty for an open network.",
		"パスワードのないネットワークでは空のままにします。",
		"无密码的网络请留空。",
	],
	passwordSaved: [
		"Leave it empty to keep the saved password.",
		"保存済みのパスワードを使う場合は空のままにします。",
		"留空则使用已保存的密码。",
	],
	showPassword: ["Show the password", "パスワードを表示", "显示密码"],
	server: ["Server", "サーバー", "服务器"],
	find: ["Find my gateway", "ゲートウェイを探す", "查找我的网关"],
	gateways: ["Gateways found", "見つかったゲートウェイ", "找到的网关"],
	backend: ["Server address", "サーバーのアドレス", "服务器地址"],
	backendHint: [
		"“mdns:” means the gateway on your network. Other addresses begin with ws://, wss://, mqtt:// or mqtts://.",
		"「mdns:」は同じネットワークにあるゲートウェイを意味します。ほかのアドレスは ws://、wss://、mqtt://、mqtts:// で始まります。",
		"“mdns:”表示同一网络中的网关。其他地址以 ws://、wss://、mqtt:// 或 mqtts:// 开头。",
	],
	token: ["Token", "トークン", "令牌"],
	tokenHint: ["Only if the server asks for one.", "サーバーが求める場合だけ入力します。", "仅在服务器要求时填写。"],
	tokenSaved: [
		"Leave it empty to keep the saved token.",
		"保存済みのトークンを使う場合は空のままにします。",
		"留空则使用已保存的令牌。",
	],
	more: ["More settings", "その他の設定", "更多设置"],
	otaUrl: ["Update server (OTA URL)", "更新サーバー（OTA URL）", "更新服务器（OTA URL）"],
	otaUrlHint: [
		"If set, the device gets its server address from there.",
		"入力すると、デバイスは接続先をそこに問い合わせます。",
		"填写后，设备会向它查询要连接的服务器。",
	],
	name: ["Device name", "デバイス名", "设备名称"],
	nameHint: ["The name that apps show.", "アプリに表示される名前です。", "应用中显示的名称。"],
	send: ["Save and connect", "保存して接続", "保存并连接"],
	keep: ["Save anyway", "このまま保存", "仍然保存"],
	wait: ["Please wait", "お待ちください", "请稍候"],
	joining: ["Joining {name} …", "{name} に接続中…", "正在连接 {name}…"],
	connecting: ["Connecting to the server …", "サーバーに接続中…", "正在连接服务器…"],
	finding: ["Looking for gateways on the network …", "ネットワーク上のゲートウェイを検索中…", "正在网络中查找网关…"],
	done: ["Done", "完了", "完成"],
	joinedRestarts: [
		"The device has joined {name}. It restarts and connects: you can close this page.",
		"{name} に接続しました。デバイスは再起動してサーバーに接続します。このページは閉じてかまいません。",
		"设备已连接到 {name}，将重新启动并连接服务器。可以关闭此页面。",
	],
	joinedConnects: [
		"The device has joined {name}. It connects: you can close this page.",
		"{name} に接続しました。デバイスはサーバーに接続します。このページは閉じてかまいません。",
		"设备已连接到 {name}，将连接服务器。可以关闭此页面。",
	],
	failed: ["That did not work", "うまくいきませんでした", "未成功"],
	notJoined: [
		"Could not join {name}. Check the password, or move closer to the router.",
		"{name} に接続できませんでした。パスワードを確認するか、ルーターに近づけてください。",
		"无法连接到 {name}。请检查密码，或靠近路由器。",
	],
	notReached: [
		"The Wi-Fi works, but the server did not answer. Check that it is running, and its address and token.",
		"Wi-Fi には接続できましたが、サーバーが応答しません。サーバーが動いているか、アドレスとトークンが正しいか確認してください。",
		"Wi-Fi 已连接，但服务器没有响应。请检查服务器是否正在运行，以及地址和令牌是否正确。",
	],
	notStored: ["The settings could not be stored.", "設定を保存できませんでした。", "无法保存设置。"],
	found: ["Gateways found", "ゲートウェイが見つかりました", "已找到网关"],
	chooseGateway: [
		"Choose your gateway below, then save.",
		"下の一覧からゲートウェイを選び、保存してください。",
		"请在下方选择网关，然后保存。",
	],
	noGateway: [
		"No gateway found on {name}. Is it running, in the same network? You can type its address instead.",
		"{name} にゲートウェイが見つかりません。同じネットワークで動いていますか。アドレスを直接入力することもできます。",
		"在 {name} 中没有找到网关。网关是否正在同一网络中运行？也可以直接输入地址。",
	],
	lost: ["No connection to the device", "デバイスと通信できません", "无法与设备通信"],
	lostHelp: [
		"Your phone may have left the device’s Wi-Fi. If the device has joined the network, its own Wi-Fi is gone and you are done. Otherwise join its Wi-Fi again and reload this page.",
		"スマートフォンがデバイスの Wi-Fi から離れた可能性があります。デバイスがネットワークに接続できた場合、デバイスの Wi-Fi は消え、設定は完了です。そうでない場合は、もう一度デバイスの Wi-Fi に接続して、このページを再読み込みしてください。",
		"手机可能已离开设备的 Wi-Fi。如果设备已连接到网络，它自己的 Wi-Fi 会消失，设置即告完成。否则请重新连接设备的 Wi-Fi 并刷新此页面。",
	],
	noAnswer: [
		"The device did not answer. Is your phone still in its Wi-Fi?",
		"デバイスが応答しません。スマートフォンはデバイスの Wi-Fi に接続していますか。",
		"设备没有响应。手机是否仍连接着设备的 Wi-Fi？",
	],
	reload: [
		"The device has restarted since this page was loaded. Reload it.",
		"このページを開いた後にデバイスが再起動しました。再読み込みしてください。",
		"打开此页面后设备已重新启动。请刷新页面。",
	],
	busy: [
		"The device is trying other settings. Try again in a moment.",
		"デバイスは別の設定を試しています。少し待ってからもう一度お試しください。",
		"设备正在尝试其他设置，请稍后再试。",
	],
	wrongForm: [
		"The device could not read the form. Reload this page.",
		"入力内容を読み取れませんでした。このページを再読み込みしてください。",
		"设备无法读取表单。请刷新此页面。",
	],
	wrongSetting: [
		"The device cannot start with these settings.",
		"この設定ではデバイスを起動できません。",
		"设备无法使用这些设置启动。",
	],
	chooseNetwork: [
		"Choose a network, or type its name.",
		"ネットワークを選ぶか、名前を入力してください。",
		"请选择网络，或输入其名称。",
	],
	wrongSsid: ["This name is too long for a network.", "ネットワーク名が長すぎます。", "网络名称太长。"],
	wrongPassword: [
		"A Wi-Fi password has 8 to 63 characters.",
		"Wi-Fi のパスワードは 8〜63 文字です。",
		"Wi-Fi 密码为 8 到 63 个字符。",
	],
	wrongBackend: [
		"The device cannot use this address. Examples: mdns: or ws://192.168.1.10:8765/",
		"このアドレスは使えません。例：mdns: または ws://192.168.1.10:8765/",
		"设备无法使用此地址。例如：mdns: 或 ws://192.168.1.10:8765/",
	],
	wrongToken: [
		"This token is not valid: it is too long, or has more than one line.",
		"トークンとして使えません。長すぎるか、改行が含まれています。",
		"令牌无效：太长，或包含换行。",
	],
	wrongOtaUrl: [
		"The address begins with http:// or https://.",
		"アドレスは http:// または https:// で始まります。",
		"地址以 http:// 或 https:// 开头。",
	],
	wrongName: ["A name has at most 32 characters.", "名前は 32 文字までです。", "名称最多 32 个字符。"],
	erased: [
		"Every setting was erased. The device restarts.",
		"すべての設定を消去しました。デバイスが再起動します。",
		"所有设置已清除，设备正在重新启动。",
	],
});

/** The key of a text. */
export type TextKey = keyof typeof SETUP_TEXTS.en;

/** A message for the user: on the page in its language, on the screen in that of the setting, in the log in English. */
export interface SetupMessage {
	readonly text: TextKey;
	/** Values for the placeholders `{name}` in the text. */
	readonly name?: string;
	/** The firmware's reason, in English, shown in addition. */
	readonly detail?: string;
}

/** The sentence in a language, without the detail. In English if the language is unknown. */
export const inLanguage = ({ text, name = "" }: SetupMessage, language = "en"): string =>
	(SETUP_TEXTS[language as keyof typeof SETUP_TEXTS] ?? SETUP_TEXTS.en)[text].replace("{name}", () => name);
