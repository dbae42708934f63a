package noticepush

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/notice"
	"comanda/internal/notice/noticetest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func decode(t *testing.T, text string) []byte {
	t.Helper()
	return testenv.Must(base64.RawURLEncoding.DecodeString(text))(t)
}

// RFC 8291, appendix A: the body is the published one, byte by byte. The receiver of the tests reads it too.
func TestEncrypt_published_example(t *testing.T) {
	const text = "When I grow up, I want to be a watermelon"
	own := testenv.Must(ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))(t)
	testenv.Equal(t, base64.RawURLEncoding.EncodeToString(own.PublicKey().Bytes()),
		"BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
	to := testenv.Must(parseKeys(
		"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"))(t)
	body := testenv.Must(encryptWith([]byte(text), to, own, decode(t, "DGv6ra1nlYgDCS1FRnbzlw")))(t)
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl" +
		"7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	testenv.Equal(t, base64.RawURLEncoding.EncodeToString(body), want)
	browser := noticetest.Browser{
		Key:  testenv.Must(ecdh.P256().NewPrivateKey(decode(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")))(t),
		Auth: decode(t, "BTBZMqHH6r4Tts7J_aSIgg"),
	}
	testenv.Equal(t, string(testenv.Must(browser.Decrypt(body))(t)), text)
}

func TestEncrypt(t *testing.T) {
	b := noticetest.NewBrowser()
	to := testenv.Must(parseKeys(b.P256dh(), b.AuthText()))(t)
	seen := map[string]bool{}
	for _, n := range []int{1, 100, MaxPayload} {
		text := bytes.Repeat([]byte("x"), n)
		body := testenv.Must(encrypt(text, to))(t)
		if !bytes.Equal(testenv.Must(b.Decrypt(body))(t), text) {
			t.Errorf("a text of %d bytes is not read", n)
		}
		if seen[string(body[:16])] {
			t.Error("a salt is used twice")
		}
		seen[string(body[:16])] = true
	}
	if _, err := encrypt(make([]byte, MaxPayload+1), to); err == nil {
		t.Error("a text that is too long is encrypted")
	}
}

func clock() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }

// env is a push service that the test starts, and a client that trusts its certificate.
type env struct {
	*noticetest.PushService
	t      *testing.T
	client *Client
}

func newEnv(t *testing.T, local bool) *env {
	t.Helper()
	s := noticetest.NewPushService(t)
	s.Now = clock
	key := testenv.Must(ParseKey(testenv.Must(NewKey())(t)))(t)
	s.Expect(key.Public())
	h := NewHTTPClient(local, s.Roots())
	t.Cleanup(h.CloseIdleConnections)
	return &env{s, t, &Client{
		HTTP: h, Key: func(context.Context) (Key, error) { return key, nil },
		Subject: func() string { return "mailto:a@house.example" }, Now: clock,
	}}
}

func (e *env) sendTo(endpoint string) error {
	sub := notice.Subscription{Endpoint: endpoint, P256dh: e.Browser.P256dh(), Auth: e.Browser.AuthText()}
	return e.client.Send(e.t.Context(), sub, []byte(`{"kind":"ORDER_READY"}`), 90*time.Second, "high")
}

// A push service verifies the sender, and its browser decrypts the message, with its lifetime and its urgency.
func TestClient_Send(t *testing.T) {
	e := newEnv(t, true)
	testenv.NoError(t, e.sendTo(e.Endpoint()))
	want := noticetest.Message{Text: `{"kind":"ORDER_READY"}`, TTL: "90", Urgency: "high", Subject: "mailto:a@house.example"}
	if got, err := e.Messages(); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("received %+v, error %v", got, err)
	}
	e.Expect("another")
	if err := e.sendTo(e.Endpoint()); !errors.Is(err, notice.ErrRefused) {
		t.Errorf("a message of a sender that the browser did not subscribe to: error %v", err)
	}
}

// What the service answers decides whether the message is tried again. No error contains the endpoint's path (N5).
func TestClient_answers(t *testing.T) {
	e := newEnv(t, true)
	for name, a := range map[string]struct {
		status int
		after  string
		want   error // nil: tried again
	}{
		"not found": {404, "", notice.ErrGone}, "gone": {410, "", notice.ErrGone},
		"too many":                 {429, "120", notice.RetryLaterError{After: 2 * time.Minute}},
		"busy":                     {503, clock().Add(time.Minute).Format(http.TimeFormat), notice.RetryLaterError{After: time.Minute}},
		"too many, without a time": {429, "", nil}, "broken": {500, "", nil}, "refused": {403, "", notice.ErrRefused},
		"too large": {413, "", notice.ErrRefused}, "redirect": {307, "", notice.ErrRefused},
	} {
		e.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://127.0.0.1/")
			if a.after != "" {
				w.Header().Set("Retry-After", a.after)
			}
			w.WriteHeader(a.status)
		})
		err := e.sendTo(e.Endpoint())
		again := err != nil && !errors.Is(err, notice.ErrGone) && !errors.Is(err, notice.ErrRefused) &&
			!errors.As(err, new(notice.RetryLaterError))
		if a.want != nil && !errors.Is(err, a.want) || a.want == nil && !again {
			t.Errorf("%s: error %v, want %v", name, err, a.want)
		}
		if strings.Contains(err.Error(), "secret-path") {
			t.Errorf("%s: the error contains the endpoint: %v", name, err)
		}
	}
	e.Close()
	if err := e.sendTo(e.Endpoint()); err == nil || errors.Is(err, notice.ErrRefused) || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("without a server: error %v", err)
	}
}

// An endpoint at an address of this machine or of a private network is not connected to, whatever its name resolves to.
func TestClient_connects_to_public_addresses_only(t *testing.T) {
	e := newEnv(t, false)
	port := e.URL[strings.LastIndex(e.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254"} {
		err := e.sendTo("https://" + host + port + noticetest.SecretPath)
		if !errors.Is(err, errAddress) || !errors.Is(err, notice.ErrRefused) {
			t.Errorf("endpoint at %s: error %v, want a refusal", host, err)
		}
	}
	if err := e.sendTo("http" + strings.TrimPrefix(e.Endpoint(), "https")); !errors.Is(err, notice.ErrRefused) {
		t.Errorf("an endpoint without TLS: error %v, want a refusal", err)
	}
	if got, err := e.Messages(); len(got) > 0 || err != nil {
		t.Errorf("a private address was reached: %v, %v", got, err)
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "::1": false,
		"::": false, "fe80::1": false, "fd00::1": false, "ff02::1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false,
		"2002:7f00:1::": false, "::127.0.0.1": false, "fec0::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %t", address, got)
		}
	}
}

func TestKey_is_not_printed(t *testing.T) {
	k := testenv.Must(ParseKey(testenv.Must(NewKey())(t)))(t)
	if k.String() != "[redacted]" || k.GoString() != "[redacted]" || len(decode(t, k.Public())) != 65 {
		t.Errorf("key %s %#v", k, k)
	}
	for _, damaged := range []string{"", "x", base64.StdEncoding.EncodeToString(make([]byte, 32))} {
		if _, err := ParseKey(damaged); err == nil || damaged != "" && strings.Contains(err.Error(), damaged) {
			t.Errorf("damaged key %q: error %v", damaged, err)
		}
	}
}
