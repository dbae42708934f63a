package vnpay

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/testenv"
)

func testAttempt() payment.Attempt {
	return payment.Attempt{
		ID: testID, OrderID: "0dfq5c2v9s6gk0r3b7m1n4t8u0", Method: payment.VNPay, Amount: 150_000, Currency: money.VND,
		State: payment.Created, CreatedAt: testNow.Add(-time.Second).Add(700 * time.Millisecond),
	}
}

func testPurchase() payment.Purchase {
	return payment.Purchase{
		Attempt: testAttempt(), OrderNumber: "A17", BranchName: "Phở Thìn – Quận 1", ExpiresAt: testNow.Add(14 * time.Minute),
		ClientIP: "203.0.113.7", Language: "vi", ReturnBaseURL: "https://house.example/pay",
	}
}

func TestMerchant_Start(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	page, err := m.Start(t.Context(), testPurchase())
	if err != nil || page.Ref != "" {
		t.Fatalf("Start = %+v, %v, want a page without a reference", page, err)
	}
	u, err := url.Parse(page.URL)
	if err != nil || u.Scheme+"://"+u.Host+u.Path != SandboxPayURL {
		t.Fatalf("page = %s, %v, want %s", page.URL, err, SandboxPayURL)
	}
	signed, hash, _ := strings.Cut(u.RawQuery, "&vnp_SecureHash=")
	if hash != mac(signed) {
		t.Errorf("the signature does not hold for %s", signed)
	}
	want := url.Values{
		"vnp_Version": {"2.1.0"}, "vnp_Command": {"pay"}, "vnp_TmnCode": {"COMANDA1"}, "vnp_TxnRef": {testID},
		"vnp_Amount": {"15000000"}, "vnp_CurrCode": {"VND"}, "vnp_CreateDate": {"20261122012959"},
		"vnp_ExpireDate": {"20261122014400"}, "vnp_IpAddr": {"203.0.113.7"}, "vnp_Locale": {"vn"},
		"vnp_OrderInfo": {"Thanh toan don hang A17 Pho Thin Quan 1"}, "vnp_OrderType": {"other"},
		"vnp_ReturnUrl": {"https://house.example/pay/payment/vnpay/return"}, "vnp_SecureHash": {hash},
	}
	testenv.Equal(t, want, u.Query())
	again, err := m.Start(t.Context(), testPurchase())
	if err != nil || again != page {
		t.Errorf("asked again, the page is %+v, %v", again, err)
	}
}

func TestMerchant_Start_refuses(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	for name, c := range map[string]struct {
		change func(*payment.Purchase)
		want   error
	}{
		"the least":          {func(p *payment.Purchase) { p.Attempt.Amount = 5_000 }, nil},
		"less":               {func(p *payment.Purchase) { p.Attempt.Amount = 4_999 }, payment.ErrUnsuitable},
		"the most":           {func(p *payment.Purchase) { p.Attempt.Amount = 999_999_999 }, nil},
		"more":               {func(p *payment.Purchase) { p.Attempt.Amount = 1_000_000_000 }, payment.ErrUnsuitable},
		"another currency":   {func(p *payment.Purchase) { p.Attempt.Currency = money.TWD }, payment.ErrUnsuitable},
		"another method":     {func(p *payment.Purchase) { p.Attempt.Method = payment.LINEPay }, payment.ErrUnsuitable},
		"over":               {func(p *payment.Purchase) { p.Attempt.CreatedAt = testNow.Add(-time.Hour); p.ExpiresAt = testNow }, payment.ErrUnsuitable},
		"over in an instant": {func(p *payment.Purchase) { p.Attempt.CreatedAt = testNow; p.ExpiresAt = testNow.Add(1) }, payment.ErrUnsuitable},
		"an odd address":     {func(p *payment.Purchase) { p.ReturnBaseURL = "https://house.example/~me" }, payment.ErrRefused},
		"a long address":     {func(p *payment.Purchase) { p.ReturnBaseURL += strings.Repeat("a", 255) }, payment.ErrRefused},
	} {
		p := testPurchase()
		c.change(&p)
		page, err := m.Start(t.Context(), p)
		if !errors.Is(err, c.want) || (err == nil) != (page.URL != "") {
			t.Errorf("Start with %s = %+v, %v, want %v", name, page, err, c.want)
		}
	}
}

func TestFormatIP(t *testing.T) {
	for s, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "1.2.3.4": "1.2.3.4", "::ffff:203.0.113.7": "203.0.113.7",
		"2001:db8::17": "2001:db8::17", "::1": "0000:0000:0000:0000:0000:0000:0000:0001", "fe80::1%eth0": "fe80::1",
		"": "127.0.0.1", "unknown": "127.0.0.1", "203.0.113.7:80": "127.0.0.1",
	} {
		if got := formatIP(s); got != want || len(got) < 7 || len(got) > 45 {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func TestASCIIText(t *testing.T) {
	for s, want := range map[string]string{
		"Bún đậu mắm tôm, Đặng Văn Ngữ": "Bun dau mam tom Dang Van Ngu",
		"ẮẰẲẴẶ ỆỄ Ỹ ƠỚ ƯỰ":              "AAAAA EE Y OO UU",
		"Pho\u031b\u0309n Bo\u0300i":    "Phon Boi",
		"  A17 #2/3\n~ 滷肉飯 🍜 50% ":      "A17 2 3 50",
		"滷肉飯":                           "",
	} {
		if got := asciiText(s, 255); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
	testenv.Equal(t, "abcdefghij", asciiText("abcdefghij k", 11))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		got := asciiText(rapid.String().Draw(t, "s"), n)
		for _, r := range got {
			if r != ' ' && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a') {
				t.Fatalf("%q has %q in it", got, r)
			}
		}
		if len(got) > n || asciiText(got, n) != got {
			t.Fatalf("%q of at most %d", got, n)
		}
	})
}

// For any text of an order, the pay URL is signed and complete. Its characters are only those that all implementations
// encode in the same way.
func TestStart_texts(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	rapid.Check(t, func(t *rapid.T) {
		p := testPurchase()
		p.OrderNumber, p.BranchName = rapid.String().Draw(t, "number"), rapid.String().Draw(t, "house")
		p.Language, p.ClientIP = rapid.SampledFrom([]string{"vi", "vi-VN", "en", "zh-TW", ""}).Draw(t, "language"), rapid.String().Draw(t, "address")
		p.Attempt.Amount = rapid.Int64Range(5_000, 999_999_999).Draw(t, "amount")
		page := testenv.Must(m.Start(t.Context(), p))(t)
		u := testenv.Must(url.Parse(page.URL))(t)
		q := u.Query()
		if info := q.Get("vnp_OrderInfo"); info == "" || len(info) > 255 || asciiText(info, 255) != info {
			t.Fatalf("order info %q", info)
		}
		if got, ok := parseAmount(q.Get("vnp_Amount")); !ok || got != p.Attempt.Amount || len(q.Get("vnp_Amount")) > 12 {
			t.Fatalf("amount %s", q.Get("vnp_Amount"))
		}
		if parsed, ok := parse(u.RawQuery); !ok || !m.verifyQuery(parsed) || !genuine(u.RawQuery) || strings.ContainsAny(u.RawQuery, "~*()'!") {
			t.Fatalf("signed badly: %s", u.RawQuery)
		}
	})
}

func TestConfig_Validate(t *testing.T) {
	const realPage = "https://pay.vnpay.vn/vpcpay.html"
	good := Config{TmnCode: "COMANDA1", HashSecret: testSecret}
	for name, c := range map[string]struct {
		change func(*Config)
		ok     bool
	}{
		"the sandbox":          {func(*Config) {}, true},
		"the sandbox's page":   {func(c *Config) { c.PayURL, c.APIURL = SandboxPayURL, "" }, true},
		"the sandbox's API":    {func(c *Config) { c.PayURL, c.APIURL = "", SandboxAPIURL }, true},
		"the real one":         {func(c *Config) { c.PayURL, c.APIURL = realPage, "https://vnpay.example/api" }, true},
		"a real page alone":    {func(c *Config) { c.PayURL = realPage }, false},
		"a real API alone":     {func(c *Config) { c.APIURL = "https://vnpay.example/api" }, false},
		"a simulator":          {func(c *Config) { c.PayURL, c.APIURL = "http://192.168.1.20:8090/p", "http://127.0.0.1:8090/a" }, true},
		"localhost":            {func(c *Config) { c.PayURL, c.APIURL = SandboxPayURL, "http://localhost:8090/a" }, true},
		"no code":              {func(c *Config) { c.TmnCode = "" }, false},
		"a long code":          {func(c *Config) { c.TmnCode = "COMANDA12" }, false},
		"no secret":            {func(c *Config) { c.HashSecret = "" }, false},
		"a short secret":       {func(c *Config) { c.HashSecret = "secret" }, false},
		"a secret with a line": {func(c *Config) { c.HashSecret += "\n" }, false},
		"an API without TLS":   {func(c *Config) { c.PayURL, c.APIURL = SandboxPayURL, "http://192.0.2.1/a" }, false},
		"a page without TLS":   {func(c *Config) { c.PayURL = "http://vnpay.example/p"; c.APIURL = "https://vnpay.example/api" }, false},
		"a page with a query":  {func(c *Config) { c.PayURL, c.APIURL = realPage+"?a=b", SandboxAPIURL }, false},
		"a page without host":  {func(c *Config) { c.PayURL, c.APIURL = "/vpcpay.html", SandboxAPIURL }, false},
		"no address at all":    {func(c *Config) { c.PayURL, c.APIURL = "https://%zz", SandboxAPIURL }, false},
		"a password":           {func(c *Config) { c.PayURL, c.APIURL = SandboxPayURL, "https://a:b@vnpay.example/" }, false},
	} {
		conf := good
		c.change(&conf)
		err := conf.Validate()
		if (err == nil) != c.ok {
			t.Errorf("Validate with %s: error %v, want success %t", name, err, c.ok)
		}
		if err != nil && strings.Contains(err.Error(), testSecret) {
			t.Errorf("%s: the secret stands in %v", name, err)
		}
		if _, other := New(conf, http.DefaultClient, time.Now); (other == nil) != c.ok {
			t.Errorf("%s: New returned %v", name, other)
		}
	}
}
