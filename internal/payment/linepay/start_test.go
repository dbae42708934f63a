package linepay

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/testenv"
)

const started = `{"returnCode":"0000","returnMessage":"Success.","info":{"paymentUrl":{"web":"https://pay.example/p","app":"line://pay"},` +
	`"transactionId":` + ref + `,"paymentAccessToken":"187568751124"}}`

func TestMerchant_Start(t *testing.T) {
	l := fakeLINEPay(map[string]string{"request": started})
	page, err := merchantOf(t, l).Start(t.Context(), purchaseOf(attempt()))
	if err != nil || page != (payment.Page{URL: "https://pay.example/p", Ref: ref}) {
		t.Fatalf("Start = %+v, %v, want the page and the reference", page, err)
	}
	want := `{"amount":360,"currency":"TWD","orderId":"` + attemptID + `","packages":[{"id":"order","amount":360,` +
		`"name":"小籠包 \u003c永康店\u003e \u0026 茶","products":[{"name":"小籠包 \u003c永康店\u003e \u0026 茶 A-012","quantity":1,"price":360}]}],` +
		`"redirectUrls":{"confirmUrl":"https://eat.example/payment/linepay/confirm","cancelUrl":"https://eat.example/payment/linepay/cancel"},` +
		`"options":{"payment":{"capture":true},"display":{"locale":"zh_TW"},"extra":{"branchName":"小籠包 \u003c永康店\u003e \u0026 茶"}}}`
	testenv.Equal(t, want, l.bodies[0])
}

func TestMerchant_Start_words(t *testing.T) {
	for language, locale := range map[string]string{"zh-TW": "zh_TW", "en": "en", "vi": "en", "th": "th", "": "en"} {
		p := purchaseOf(attempt())
		p.Language = language
		if got := newRequestBody(p).Options.Display.Locale; got != locale {
			t.Errorf("%q becomes %q", language, got)
		}
	}
	p := purchaseOf(attempt())
	p.BranchName = strings.Repeat("茶", 300)
	b := newRequestBody(p)
	for _, name := range []string{b.Packages[0].Name, b.Packages[0].Products[0].Name, b.Options.Extra.Branch} {
		if len(name) > 200 || strings.Trim(name, "茶") != "" {
			t.Errorf("cut to %q", name)
		}
	}
	p.BranchName, p.OrderNumber = "", ""
	if b := newRequestBody(p); b.Packages[0].Name != "-" || b.Packages[0].Products[0].Name != "-" {
		t.Errorf("packages = %+v, want - for empty names", b.Packages)
	}
}

func TestMerchant_Start_refuses(t *testing.T) {
	l := fakeLINEPay(map[string]string{"request": started})
	m := merchantOf(t, l)
	for _, c := range []struct {
		amount   int64
		currency money.Currency
	}{{360, money.VND}, {360, money.JPY}, {0, money.TWD}, {-1, money.TWD}, {1, ""}} {
		p := purchaseOf(attempt())
		p.Attempt.Amount, p.Attempt.Currency = c.amount, c.currency
		if _, err := m.Start(t.Context(), p); !errors.Is(err, payment.ErrUnsuitable) {
			t.Errorf("Start of %d %s: error %v, want ErrUnsuitable", c.amount, c.currency, err)
		}
	}
	p := purchaseOf(attempt())
	p.Attempt.GatewayRef = ref // L1
	testenv.ErrorIs(t, payment.ErrGateway, testenv.Err(m.Start(t.Context(), p)), "started twice")
	testenv.Equal(t, 0, len(l.requests))
}

func TestMerchant_Start_answers(t *testing.T) {
	for name, l := range map[string]*fakeServer{
		"repeated":     fakeLINEPay(map[string]string{"request": `{"returnCode":"1172"}`}),
		"no info":      fakeLINEPay(map[string]string{"request": `{"returnCode":"0000"}`}),
		"short id":     fakeLINEPay(map[string]string{"request": strings.Replace(started, ref, "123", 1)}),
		"a float":      fakeLINEPay(map[string]string{"request": strings.Replace(started, ref, "2.0261121098765433e18", 1)}),
		"script":       fakeLINEPay(map[string]string{"request": strings.Replace(started, "https://pay.example/p", "javascript:alert(1)", 1)}),
		"no page":      fakeLINEPay(map[string]string{"request": strings.Replace(started, "https://pay.example/p", "", 1)}),
		"HTML":         failingLINEPay(200, "<html>", nil),
		"error":        failingLINEPay(500, started, nil),
		"redirect":     failingLINEPay(302, started, nil),
		"too long":     failingLINEPay(200, started+strings.Repeat(" ", gatewayhttp.MaxBody), nil),
		"out of reach": failingLINEPay(0, "", http.ErrHandlerTimeout),
	} {
		page, err := merchantOf(t, l).Start(t.Context(), purchaseOf(attempt()))
		if !errors.Is(err, payment.ErrGateway) || page != (payment.Page{}) {
			t.Errorf("Start with %s = %+v, %v, want ErrGateway", name, page, err)
		}
		if err != nil && (strings.Contains(err.Error(), "a917ab6a") || len(l.requests) != 1) {
			t.Errorf("%s: %d calls, %v", name, len(l.requests), err)
		}
	}
}

// A code of the manual that says that nothing happened is a refusal. After every other code LINE Pay may have a payment.
func TestMerchant_Start_refusals(t *testing.T) {
	for code, refused := range map[string]bool{
		"1101": true, "1102": true, "1104": true, "1105": true, "1106": true, "1124": true, "1141": true, "1142": true, "1178": true,
		"1183": true, "1194": true, "1281": true, "2101": true, "2102": true,

		"1145": false, "1150": false, "1152": false, "1155": false, "1169": false, "1172": false, "1198": false, "1199": false,
		"1299": false, "1900": false, "9000": false, "9999": false,
	} {
		answer := `{"returnCode":"` + code + `","returnMessage":"No."}`
		page, err := merchantOf(t, fakeLINEPay(map[string]string{"request": answer})).Start(t.Context(), purchaseOf(attempt()))
		want := payment.ErrGateway
		if refused {
			want = payment.ErrRefused
		}
		if !errors.Is(err, want) || page != (payment.Page{}) {
			t.Errorf("Start with %s = %+v, %v, want %v", code, page, err, want)
		}
		if r, ok := errors.AsType[*payment.RefusedError](err); ok != refused || ok && r.Raw != answer {
			t.Errorf("refusal with %s = %+v, want the answer of LINE Pay only for a refusal", code, r)
		}
	}
}

func TestConfig_Validate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *Config)
		ok     bool
	}{
		"sandbox":        {func(*Config) {}, true},
		"production":     {func(c *Config) { c.Host, c.Prefix = productionHost, "/v3" }, true},
		"own machine":    {func(c *Config) { c.Host = "http://127.0.0.1:8080/linepay" }, true},
		"own name":       {func(c *Config) { c.Host = "http://localhost:8080" }, true},
		"no encryption":  {func(c *Config) { c.Host = "http://api-pay.line.me" }, false},
		"slash":          {func(c *Config) { c.Host += "https://api-pay.line.me/" }, false},
		"query":          {func(c *Config) { c.Host = "https://api-pay.line.me?a=b" }, false},
		"user":           {func(c *Config) { c.Host = "https://u@api-pay.line.me" }, false},
		"no host":        {func(c *Config) { c.Host = "api-pay.line.me" }, false},
		"no channel":     {func(c *Config) { c.ChannelID = "" }, false},
		"header in it":   {func(c *Config) { c.ChannelID = "1\r\nX: y" }, false},
		"no secret":      {func(c *Config) { c.ChannelSecret = "" }, false},
		"line in secret": {func(c *Config) { c.ChannelSecret += "\n" }, false},
		"version":        {func(c *Config) { c.Prefix = "/v2" }, false},
		"bare version":   {func(c *Config) { c.Prefix = "v4" }, false},
	} {
		conf := testConfig()
		c.change(&conf)
		err := conf.Validate()
		if (err == nil) != c.ok {
			t.Errorf("Validate with %s: error %v, want success %t", name, err, c.ok)
		}
		if _, newErr := New(conf, &http.Client{}, Nonce); (newErr == nil) != c.ok {
			t.Errorf("%s: New: %v", name, newErr)
		}
		if text := fmt.Sprintf("%v %+v", err, conf); strings.Contains(text, "a917ab6a") {
			t.Errorf("%s: the secret is shown: %s", name, text)
		}
	}
}
