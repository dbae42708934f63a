package linepaysim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	channel = "1656000001"
	secret  = "a917ab6a2367b536f8e5a6e2977e06f4"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, o Options) *Simulator {
	t.Helper()
	o.ChannelID, o.ChannelSecret = channel, secret
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	s := testenv.Must(New(o))(t)
	t.Cleanup(s.Close)
	return s
}

var counter int

// signed returns a request of the API, signed as the merchant does.
func signed(t *testing.T, method, target, body string) *http.Request {
	t.Helper()
	counter++
	nonce := fmt.Sprint("nonce-", counter)
	path, query, _ := strings.Cut(target, "?")
	payload := body
	if method == http.MethodGet {
		payload = query
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprint(mac, secret+path+payload+nonce)
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("X-LINE-ChannelId", channel)
	r.Header.Set("X-LINE-Authorization-Nonce", nonce)
	r.Header.Set("X-LINE-Authorization", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return r
}

func do(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// code sends a signed request and returns the code of the response.
func code(t *testing.T, s *Simulator, method, target, body string) string {
	t.Helper()
	return codeOf(t, do(s, signed(t, method, target, body)))
}

func codeOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var a struct{ ReturnCode string }
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		t.Fatalf("answer: status %d with body %s, want 200 with JSON", w.Code, w.Body)
	}
	return a.ReturnCode
}

// paymentRequest returns a request for one product; its parts are replaced by pairs of old and new.
func paymentRequest(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`{"amount":360,"currency":"TWD","orderId":"o1","packages":[{"id":"p","amount":360,` +
		`"name":"<b>小籠包</b>","products":[{"name":"A & B","quantity":2,"price":180}]}],"redirectUrls":{"confirmUrl":"https://eat.example/c?a=1",` +
		`"cancelUrl":"http://other.example:8080/x"},"options":{"display":{"locale":"zh_TW"}}}`)
}

// begin requests a payment and returns its id and the path of its page.
func begin(t *testing.T, s *Simulator, body string) (id, page string) {
	t.Helper()
	var a struct {
		Info struct {
			TransactionID json.Number
			PaymentURL    struct{ Web string }
		}
	}
	w := do(s, signed(t, http.MethodPost, "/v4/payments/request", body))
	testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
	u, err := url.Parse(a.Info.PaymentURL.Web)
	if err != nil || u.Host != "example.com" || len(a.Info.TransactionID) != 19 || strings.Contains(w.Body.String(), `"`+a.Info.TransactionID.String()) {
		t.Fatalf("request = %s, %v, want a page of example.com and a number of 19 digits", w.Body, err)
	}
	return a.Info.TransactionID.String(), u.Path
}

func press(t *testing.T, s *Simulator, page, action string) *httptest.ResponseRecorder {
	t.Helper()
	return testenv.Serve(t, s, http.MethodPost, page, "action="+action, "Content-Type", "application/x-www-form-urlencoded")
}

// Published signatures are accepted, and any change of them is refused.
func TestSimulator_signatures(t *testing.T) {
	text := testenv.Must(os.ReadFile("../../payment/linepay/testdata/vectors.json"))(t)
	var vectors []struct {
		ID, Path, Body, Nonce, Signature string
		Secret                           string `json:"channel_secret"`
	}
	testenv.NoError(t, json.Unmarshal(text, &vectors))
	tried := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Path, "/") { // signed for another place than a path
			continue
		}
		tried++
		s := testenv.Must(New(Options{ChannelID: channel, ChannelSecret: v.Secret}))(t)
		for _, c := range []struct {
			what, channel, body, nonce, signature string
			refused                               bool
		}{
			{"body", channel, v.Body + " ", v.Nonce, v.Signature, true},
			{"nonce", channel, v.Body, v.Nonce + "0", v.Signature, true},
			{"no nonce", channel, v.Body, "", v.Signature, true},
			{"channel", channel + "0", v.Body, v.Nonce, v.Signature, true},
			{"no signature", channel, v.Body, v.Nonce, "", true},
			{"no base64", channel, v.Body, v.Nonce, "!" + v.Signature, true},
			{"as published", channel, v.Body, v.Nonce, v.Signature, false},
			{"once more", channel, v.Body, v.Nonce, v.Signature, true},
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, v.Path, strings.NewReader(c.body))
			r.Header.Set("X-LINE-ChannelId", c.channel)
			r.Header.Set("X-LINE-Authorization-Nonce", c.nonce)
			r.Header.Set("X-LINE-Authorization", c.signature)
			if got := codeOf(t, do(s, r)); (got == "1106") != c.refused {
				t.Errorf("vector %s with %s: code %s, want refusal %t", v.ID, c.what, got, c.refused)
			}
		}
		s.Close()
	}
	if tried < 4 {
		t.Errorf("%d vectors", tried)
	}
}

func TestSimulator_request(t *testing.T) {
	s := open(t, Options{})
	for body, want := range map[string]string{
		paymentRequest(): "0000",
		paymentRequest(`TWD`, `THB`, `:360`, `:360.5`, `180`, `180.25`):        "0000",
		paymentRequest(`"amount":360,"c`, `"amount":361,"c`):                   "2101",
		paymentRequest(`180`, `181`):                                           "2101",
		paymentRequest(`"quantity":2`, `"quantity":0`):                         "2101",
		paymentRequest(`:360`, `:0`, `180`, `0`):                               "1124",
		paymentRequest(`:360`, `:-360`, `180`, `-180`):                         "1124",
		paymentRequest(`:360`, `:360.5`, `180`, `180.25`):                      "1124",
		paymentRequest(`:360`, `:36e1`):                                        "1124",
		paymentRequest(`TWD`, `JPY`):                                           "1178",
		paymentRequest(`"o1"`, `""`):                                           "2101",
		paymentRequest(`"o1"`, `"`+strings.Repeat("x", 101)+`"`):               "2101",
		paymentRequest(`https://eat`, `javascript:`):                           "2101",
		paymentRequest(`other.example`, `a;script-src *`):                      "2101",
		paymentRequest(`{"display"`, `{"payment":{"capture":false},"display"`): "2101",
		paymentRequest(`"orderId"`, `"orderID2"`):                              "2102",
		paymentRequest() + "x":                                                 "2102",
		"":                                                                     "2102",
	} {
		if got := code(t, s, http.MethodPost, "/v3/payments/request", body); got != want {
			t.Errorf("%s for %s", got, body)
		}
	}
}

func TestSimulator_codes(t *testing.T) {
	now := noon
	s := open(t, Options{Now: func() time.Time { return now }})
	id, page := begin(t, s, paymentRequest())
	confirm, refund := "/v4/payments/"+id+"/confirm", "/v4/payments/"+id+"/refund"
	for i, step := range []struct{ act, method, target, body, want string }{
		{"", "GET", "/v4/payments/requests/1/check", "", "1150"},
		{"", "GET", "/v4/payments/requests/x/check", "", "1150"},
		{"", "POST", "/v4/payments/1/confirm", `{}`, "1150"},
		{"", "POST", "/v4/payments/1/refund", `{}`, "1150"},
		{"", "GET", "/v4/payments", "", "2101"},
		{"", "GET", "/v4/payments?orderId=o1", "", "1150"},
		{"", "POST", confirm, `{"amount":360,"currency":"TWD"}`, "1169"},
		{"", "POST", refund, `{}`, "1155"},
		{"pay", "POST", confirm, `{"amount":359,"currency":"TWD"}`, "1153"},
		{"pay", "POST", confirm, `{"amount":360,"currency":"THB"}`, "1178"},
		{"pay", "POST", confirm, `[]`, "2102"},
		{"", "POST", confirm, `{"amount":360,"currency":"TWD"}`, "0000"},
		{"cancel", "POST", confirm, `{"amount":360,"currency":"TWD"}`, "1172"},
		{"", "GET", "/v4/payments?orderId=o1", "", "0000"},
		{"", "GET", "/v3/payments?transactionId=" + id, "", "0000"},
		{"", "POST", refund, `{"refundAmount":361}`, "1164"},
		{"", "POST", refund, `{"refundAmount":0}`, "1124"},
		{"", "POST", refund, `{"refundAmount":0.5}`, "1124"},
		{"", "POST", refund, `{"refundAmount":60}`, "0000"},
		{"", "POST", refund, `{"refundAmount":301}`, "1164"},
		{"", "POST", refund, `{}`, "0000"},
		{"", "POST", refund, `{}`, "1165"},
		{"late", "GET", "/v4/payments/requests/" + id + "/check", "", "0123"},
	} {
		if step.act != "" {
			press(t, s, page, step.act)
		}
		if got := code(t, s, step.method, step.target, step.body); got != step.want {
			t.Errorf("step %d, %s: %s", i, step.target, got)
		}
	}
	list := do(s, signed(t, http.MethodGet, "/v4/payments?transactionId="+id, "")).Body.String()
	for _, part := range []string{`"refundAmount":-60,`, `"refundAmount":-300,`, `"PARTIAL_REFUND"`, `{"amount":324,"method":"BALANCE"},{"amount":36,"method":"POINT"}`} {
		if !strings.Contains(list, part) {
			t.Errorf("no %s in %s", part, list)
		}
	}
	now = now.Add(Window)
	if got := code(t, s, http.MethodGet, "/v4/payments/requests/"+id+"/check", ""); got != "0123" {
		t.Errorf("a paid one ends with %s", got)
	}
}

// A second confirmation while the first is being processed is refused as a duplicated call.
func TestSimulator_delay(t *testing.T) {
	waits, over := make(chan time.Duration), make(chan time.Time)
	s := open(t, Options{After: func(d time.Duration) <-chan time.Time { waits <- d; return over }})
	id, page := begin(t, s, paymentRequest())
	press(t, s, page, "pay")
	testenv.NoError(t, s.SetFaults(Fault{Call: Confirm, Times: 1, DelayMS: 1500}))
	first := signed(t, http.MethodPost, "/v4/payments/"+id+"/confirm", `{"amount":360,"currency":"TWD"}`)
	got := make(chan *httptest.ResponseRecorder)
	go func() { got <- do(s, first) }()
	testenv.Equal(t, 1500*time.Millisecond, <-waits)
	if c := code(t, s, http.MethodPost, "/v4/payments/"+id+"/confirm", `{"amount":360,"currency":"TWD"}`); c != "1198" {
		t.Errorf("meanwhile %s", c)
	}
	over <- noon
	testenv.Equal(t, "0000", codeOf(t, <-got))
}

// Close ends hanging and waiting requests, and nothing is served afterwards.
func TestSimulator_Close(t *testing.T) {
	waiting := make(chan struct{}, 2)
	s := open(t, Options{After: func(time.Duration) <-chan time.Time { waiting <- struct{}{}; return nil }})
	testenv.NoError(t, s.SetFaults(Fault{Call: Check, DelayMS: 1, Response: Hangs}))
	server := httptest.NewServer(s)
	defer server.Close()
	r := signed(t, http.MethodGet, "/v4/payments/requests/1/check", "")
	call := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+r.URL.Path, http.NoBody))(t)
	call.Header = r.Header
	failed := make(chan error)
	go func() {
		resp, err := server.Client().Do(call)
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	<-waiting
	s.Close()
	if err := <-failed; err == nil {
		t.Error("a call that hangs was answered")
	}
	testenv.Equal(t, http.StatusServiceUnavailable, testenv.Serve(t, s, http.MethodGet, "/control", "").Code)
	s.Close()
}

func TestSimulator_forgets_the_oldest(t *testing.T) {
	s := open(t, Options{Keep: 2})
	id, page := begin(t, s, paymentRequest())
	for range 2 {
		begin(t, s, paymentRequest())
	}
	testenv.Equal(t, "1150", code(t, s, http.MethodGet, "/v4/payments/requests/"+id+"/check", ""))
	if w := press(t, s, page, "pay"); w.Code != http.StatusNotFound {
		t.Errorf("its page as well: %d", w.Code)
	}
	if len(s.Payments()) != 2 || s.byID.Len() != 2 || s.byPage.Len() != 2 || s.nonces.Len() != 2 {
		t.Errorf("kept %d payments, %d pages, %d nonces, want 2 of each", s.byID.Len(), s.byPage.Len(), s.nonces.Len())
	}
}

func TestSimulator_control(t *testing.T) {
	s := open(t, Options{})
	put := func(kind, body string) *httptest.ResponseRecorder {
		return testenv.Serve(t, s, http.MethodPut, "/control", body, "Content-Type", kind)
	}
	for body, want := range map[string]int{
		`{"faults":[{"call":"confirm","times":2,"code":"1199"}]}`: 200,
		`{"faults":[{"call":"capture"}]}`:                         400,
		`{"faults":[{"spoil":"rotten"}]}`:                         400,
		`{"faults":[{"code":"12"}]}`:                              400,
		`{"faults":[{"times":-1}]}`:                               400,
		`{"faults":[{"delayMs":120001}]}`:                         400,
		`{"fault":[]}`:                                            400,
		`{"faults":[` + strings.Repeat(`{},`, 100) + `{}]}`:       400,
		``: 400,
	} {
		if w := put("application/json; charset=utf-8", body); w.Code != want {
			t.Errorf("PUT %s: status %d with body %s, want %d", body, w.Code, w.Body, want)
		}
	}
	testenv.Equal(t, http.StatusUnsupportedMediaType, put("text/plain", `{"faults":[]}`).Code)
	id, _ := begin(t, s, paymentRequest())
	put("application/json", `{"faults":[{"call":"confirm","times":2,"code":"1199"},{"call":"confirm","code":"9000"}]}`)
	for _, want := range []string{"1199", "1199", "9000", "9000"} {
		if got := code(t, s, http.MethodPost, "/v4/payments/"+id+"/confirm", `{"amount":360,"currency":"TWD"}`); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
	w := testenv.Serve(t, s, http.MethodGet, "/control", "")
	want := `{"faults":[{"call":"confirm","times":0,"delayMs":0,"moves":false,"code":"9000","spoil":""}],"payments":[{"transactionId":"` + id +
		`","orderId":"o1","state":"WAITING","currency":"TWD","amount":"360","refunded":"0","refunds":0}]}` + "\n"
	if w.Body.String() != want {
		t.Error(w.Body)
	}
}

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		currency, text string
		want           int64
		ok             bool
	}{
		{"TWD", "360", 36000, true}, {"TWD", "360.0", 36000, true}, {"TWD", "360.5", 0, false}, {"USD", "0.01", 1, true},
		{"USD", "12.5", 1250, true}, {"USD", "0.001", 0, false}, {"USD", "-12.5", -1250, true}, {"USD", "1e2", 0, false},
		{"USD", "1/2", 50, true}, {"USD", "", 0, false}, {"USD", "99999999999999", 0, false},
	} {
		got, ok := hundredths(c.currency, json.Number(c.text))
		if ok != c.ok || got != c.want {
			t.Errorf("hundredths(%s, %s) = %d, %v, want %d, %v", c.currency, c.text, got, ok, c.want, c.ok)
		}
	}
	for amount, want := range map[int64]string{0: "0", 5: "0.05", 50: "0.5", 100: "1", -1250: "-12.5", 36000: "360"} {
		if got := decimal(amount); got.String() != want {
			t.Errorf("decimal(%d) = %s, want %s", amount, got, want)
		}
	}
}
