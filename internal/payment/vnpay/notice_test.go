package vnpay

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/testenv"
)

const (
	testSecret = "5d2c7f0a9b1e4c3d8f6a7b0c1d2e3f40"
	testID     = "0dfq5c2v9s6gk0r3b7m1n4t8u2"
)

var testNow = time.Date(2026, 11, 21, 18, 30, 0, 0, time.UTC) // the 22nd at UTC+7

func testMerchant(t testing.TB, client *http.Client, api string) *Merchant {
	t.Helper()
	conf := Config{TmnCode: "COMANDA1", HashSecret: testSecret, PayURL: SandboxPayURL, APIURL: api}
	return testenv.Must(New(conf, client, func() time.Time { return testNow }))(t)
}

// mac signs as the manual requires, independently of the code under test.
func mac(text string) string {
	h := hmac.New(sha512.New, []byte(testSecret))
	_, _ = fmt.Fprint(h, text)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// signedQuery returns values in the form in which VNPay sends them.
func signedQuery(v url.Values) string {
	text := v.Encode() // sorts, and encodes everything but ~ as VNPay does
	return text + "&vnp_SecureHash=" + mac(text)
}

func success() url.Values {
	return url.Values{
		"vnp_Amount": {"15000000"}, "vnp_BankCode": {"NCB"}, "vnp_BankTranNo": {"VNP14422574"}, "vnp_CardType": {"ATM"},
		"vnp_OrderInfo": {"Thanh toan don hang A17 Pho 24"}, "vnp_PayDate": {"20261122013000"}, "vnp_ResponseCode": {"00"},
		"vnp_TmnCode": {"COMANDA1"}, "vnp_TransactionNo": {"14422574"}, "vnp_TransactionStatus": {"00"}, "vnp_TxnRef": {testID},
	}
}

func with(key, value string) url.Values {
	v := success()
	v.Set(key, value)
	return v
}

func TestMerchant_Read(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	raw := signedQuery(success())
	n, err := m.Read(raw)
	want := payment.Report{State: payment.Paid, Ref: "14422574", Amount: 150_000, Currency: money.VND, Code: "00/00", Raw: raw}
	if err != nil || n.AttemptID != testID || n.Report != want {
		t.Errorf("read as %+v, %v", n, err)
	}
	reversed := strings.Split(raw, "&")
	sort.Sort(sort.Reverse(sort.StringSlice(reversed)))
	hash := raw[strings.LastIndexByte(raw, '=')+1:]
	tilde := "vnp_Amount=15000000&vnp_OrderInfo=%s&vnp_ResponseCode=00&vnp_TmnCode=COMANDA1&vnp_TransactionNo=1&" +
		"vnp_TransactionStatus=00&vnp_TxnRef=" + testID
	for name, raw := range map[string]string{
		"upper-case hash":        strings.Replace(raw, hash, strings.ToUpper(hash), 1),
		"another order":          strings.Join(reversed, "&"),
		"a stranger's parameter": "utm_source=sms&" + raw + "&utm_source=qr&%zz=1&",
		"type of the hash":       raw + "&vnp_SecureHashType=HMACSHA512",
		"spaces as %20":          strings.ReplaceAll(raw, "+", "%20"),
		"an empty one added":     raw + "&vnp_Extra=",
		"an empty one signed":    signedQuery(with("vnp_BankTranNo", "")),
		"one that is new":        signedQuery(with("vnp_Promotion", "Tết ~ 2027 (*)")),
		"~ signed as it is":      fmt.Sprintf(tilde, "a~b") + "&vnp_SecureHash=" + mac(fmt.Sprintf(tilde, "a~b")),
		"~ signed encoded":       fmt.Sprintf(tilde, "a~b") + "&vnp_SecureHash=" + mac(fmt.Sprintf(tilde, "a%7Eb")),
	} {
		if n, err := m.Read(raw); err != nil || n.AttemptID != testID || n.State != payment.Paid || n.Amount != 150_000 {
			t.Errorf("Read with %s = %+v, %v, want 150000 PAID of attempt %s", name, n, err, testID)
		}
	}
}

// Unsigned parameters of other parties do not prevent a report from being stored.
func TestMerchant_Read_keepsText(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	raw := signedQuery(success())
	for added, want := range map[string]string{
		"&x=\x00": "&x=\uFFFD", "&\x00\x00": "&\uFFFD\uFFFD", "&x=\xff": "&x=\uFFFD", "&x=%00": "&x=%00", "&x=phở": "&x=phở",
	} {
		if n, err := m.Read(raw + added); err != nil || n.Raw != raw+want {
			t.Errorf("%q is kept as %q, %v", added, strings.TrimPrefix(n.Raw, raw), err)
		}
	}
}

func TestMerchant_Read_refuses(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	raw := signedQuery(success())
	hash := raw[strings.LastIndexByte(raw, '=')+1:]
	unsigned := success().Encode()
	for name, raw := range map[string]string{
		"nothing":                 "",
		"no hash":                 unsigned,
		"an empty hash":           unsigned + "&vnp_SecureHash=",
		"half a hash":             unsigned + "&vnp_SecureHash=" + hash[:64],
		"a hash that is no hex":   unsigned + "&vnp_SecureHash=" + strings.Repeat("g", 128),
		"another amount":          strings.Replace(raw, "15000000", "1500000", 1),
		"another attempt":         strings.Replace(raw, testID, "1dfq5c2v9s6gk0r3b7m1n4t8u2", 1),
		"a failure made success":  strings.Replace(signedQuery(with("vnp_ResponseCode", "24")), "=24", "=00", 1),
		"one left out":            strings.Replace(raw, "vnp_BankCode=NCB&", "", 1),
		"one added":               raw + "&vnp_Extra=1",
		"the same one twice":      raw + "&vnp_Amount=15000000",
		"the hash twice":          raw + "&vnp_SecureHash=" + hash,
		"a twin behind its code":  raw + "&vnp%5FAmount=1500000",
		"a name in code":          strings.Replace(raw, "vnp_BankCode", "vnp%5FBankCode", 1),
		"a value without meaning": "vnp_A=%zz&" + raw,
		"the secret of another":   unsigned + "&vnp_SecureHash=" + fmt.Sprintf("%x", sha512.Sum512([]byte(testSecret+unsigned))),
		"8 kB":                    raw + "&x=" + strings.Repeat("a", maxQuery),
	} {
		if n, err := m.Read(raw); !errors.Is(err, ErrSignature) || n != (Notice{}) {
			t.Errorf("Read with %s = %+v, %v, want ErrSignature", name, n, err)
		}
	}
	for name, v := range map[string]url.Values{
		"another merchant":       with("vnp_TmnCode", "COMANDA2"),
		"no amount":              with("vnp_Amount", ""),
		"a part of a dong":       with("vnp_Amount", "15000001"),
		"an amount below zero":   with("vnp_Amount", "-15000000"),
		"an amount out of bound": with("vnp_Amount", "9999999999999900"),
		"an amount with a sign":  with("vnp_Amount", "+15000000"),
		"no attempt":             with("vnp_TxnRef", ""),
		"an odd attempt":         with("vnp_TxnRef", "a b"),
		"no code":                with("vnp_ResponseCode", ""),
		"no status":              with("vnp_TransactionStatus", ""),
		"a number that is none":  with("vnp_TransactionNo", "1e5"),
	} {
		if n, err := m.Read(signedQuery(v)); !errors.Is(err, ErrForm) || n != (Notice{}) {
			t.Errorf("Read with %s = %+v, %v, want ErrForm", name, n, err)
		}
	}
}

// Codes and statuses, including unknown ones.
func TestStates(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	for _, c := range []struct {
		response, status, number string
		want                     payment.State
	}{
		{"00", "00", "7", payment.Paid},
		{"00", "02", "7", payment.Failed}, {"99", "00", "7", payment.Failed}, {"24", "00", "7", payment.Failed},
		{"07", "00", "7", payment.Review}, {"07", "02", "7", payment.Review}, {"07", "01", "7", payment.Review},
		{"00", "04", "7", payment.Review}, {"24", "04", "7", payment.Review}, {"00", "07", "7", payment.Review},
		{"00", "05", "7", payment.Review}, {"00", "06", "7", payment.Review}, {"00", "09", "7", payment.Review},
		{"00", "01", "7", payment.Redirected}, {"99", "01", "7", payment.Redirected},
		{"24", "02", "0", payment.Failed}, {"15", "02", "0", payment.Failed}, {"11", "02", "0", payment.Failed},
		{"09", "02", "7", payment.Failed}, {"10", "02", "7", payment.Failed}, {"12", "02", "7", payment.Failed},
		{"13", "02", "7", payment.Failed}, {"51", "02", "7", payment.Failed}, {"65", "02", "7", payment.Failed},
		{"75", "02", "7", payment.Failed}, {"79", "02", "7", payment.Failed}, {"99", "02", "7", payment.Failed},
		{"XY", "77", "", payment.Failed}, {"0", "0", "7", payment.Failed}, {"000", "00", "7", payment.Failed},
	} {
		v := success()
		v.Set("vnp_ResponseCode", c.response)
		v.Set("vnp_TransactionStatus", c.status)
		v.Set("vnp_TransactionNo", c.number)
		n, err := m.Read(signedQuery(v))
		ref := c.number
		if ref == "0" {
			ref = "" // an unpaid payment has no number
		}
		if err != nil || n.State != c.want || n.Ref != ref || n.Code != c.response+"/"+c.status {
			t.Errorf("codes %s/%s = %+v, %v, want %s with reference %q", c.response, c.status, n, err, c.want, ref)
		}
	}
}

func TestReplyFor(t *testing.T) {
	for code, want := range map[string]string{
		"00": `{"RspCode":"00","Message":"Confirm Success"}`,
		"01": `{"RspCode":"01","Message":"Order not found"}`,
		"02": `{"RspCode":"02","Message":"Order already confirmed"}`,
		"04": `{"RspCode":"04","Message":"Invalid amount"}`,
		"97": `{"RspCode":"97","Message":"Invalid signature"}`,
		"99": `{"RspCode":"99","Message":"Unknow error"}`,
		"":   `{"RspCode":"99","Message":"Unknow error"}`,
		"03": `{"RspCode":"99","Message":"Unknow error"}`,
	} {
		if got, err := json.Marshal(ReplyFor(code)); err != nil || string(got) != want {
			t.Errorf("%q is %s, %v", code, got, err)
		}
	}
}

// php encodes like PHP's urlencode, which VNPay's samples use: byte by byte.
func php(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', strings.IndexByte("-_.", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func TestEscape(t *testing.T) {
	for s, want := range map[string]string{
		"~": "%7E", "*": "%2A", "(": "%28", ")": "%29", "'": "%27", "!": "%21", " ": "+", "+": "%2B", "ế": "%E1%BA%BF",
		"-_.": "-_.", "/:?&=#%@": "%2F%3A%3F%26%3D%23%25%40", "點": "%E9%BB%9E",
	} {
		if got := escape(s); got != want || php(s) != want {
			t.Errorf("%s is %s, and %s by the test's own rule", s, got, php(s))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := rapid.String().Draw(t, "s"); escape(s) != php(s) {
			t.Fatalf("%q is %s, want %s", s, escape(s), php(s))
		}
	})
}

// Every text that VNPay reports, encoded by VNPay or by a proxy, is accepted if it was signed, and refused if one byte
// differs.
func TestRead_texts(t *testing.T) {
	m := testMerchant(t, http.DefaultClient, "")
	rapid.Check(t, func(t *rapid.T) {
		v := with("vnp_OrderInfo", rapid.String().Draw(t, "info"))
		v.Set("vnp_"+rapid.StringMatching(`[A-Z][a-z]{1,5}`).Draw(t, "key"), rapid.String().Draw(t, "value"))
		pieces := map[string]string{}
		for key := range v {
			if value := v.Get(key); value != "" {
				pieces[key] = key + "=" + php(value)
			}
		}
		text := inOrder(pieces)
		raw := text + "&vnp_SecureHash=" + mac(text)
		if rapid.Bool().Draw(t, "proxy") {
			raw = strings.ReplaceAll(raw, "+", "%20")
		}
		if n, err := m.Read(raw); err != nil || n.AttemptID != testID {
			t.Fatalf("Read(%s): error %v, want the attempt's notice", raw, err)
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		other := raw[:at] + string(raw[at]^1) + raw[at+1:]
		if n, err := m.Read(other); err == nil && !genuine(other) {
			t.Fatalf("%s was read as %+v", other, n)
		}
	})
}

// genuine reports whether a query is VNPay's, as the manual requires and independently of the code under test: its hash
// covers the pieces as received, or the decoded values encoded again.
func genuine(raw string) bool {
	pieces, again := map[string]string{}, map[string]string{}
	hash, seen := "", map[string]int{}
	for piece := range strings.SplitSeq(raw, "&") {
		key, value, _ := strings.Cut(piece, "=")
		decoded, err := url.QueryUnescape(value)
		if !strings.HasPrefix(key, "vnp_") {
			continue
		}
		if seen[key]++; err != nil || seen[key] > 1 {
			return false
		}
		switch key {
		case "vnp_SecureHash":
			hash = strings.ToLower(decoded)
		case "vnp_SecureHashType":
		default:
			pieces[key] = piece
			if decoded != "" {
				again[key] = php(key) + "=" + php(decoded)
			}
		}
	}
	return mac(inOrder(pieces)) == hash || mac(inOrder(again)) == hash
}

func inOrder(m map[string]string) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[key])
	}
	return strings.Join(list, "&")
}

// FuzzRead looks for a query that makes Read panic, and for one that it accepts with an invalid signature. With
// sign, the query gets a valid signature, so that the code behind the check is reached.
func FuzzRead(f *testing.F) {
	raw := signedQuery(success())
	f.Add(raw, false)
	f.Add(strings.ReplaceAll(raw, "+", "%20"), false)
	f.Add(strings.ToUpper(raw), false)
	f.Add(raw+"&vnp_Amount=1", false)
	f.Add("vnp%5FAmount=1&"+raw, false)
	f.Add(success().Encode(), true)
	f.Add(with("vnp_Amount", "99999999999999999999").Encode(), true)
	f.Add("vnp_TxnRef=%&vnp_=&vnp_Amount", true)
	f.Add("&&;=&vnp_SecureHash=%41", true)
	m := testMerchant(f, http.DefaultClient, "")
	f.Fuzz(func(t *testing.T, raw string, sign bool) {
		if sign {
			text := raw
			if i := strings.Index(raw, "&vnp_SecureHash="); i >= 0 {
				text = raw[:i]
			}
			raw = text + "&vnp_SecureHash=" + mac(text)
		}
		n, err := m.Read(raw)
		if (err == nil) != (n != (Notice{})) {
			t.Fatalf("Read = %+v, %v, want either a notice or an error", n, err)
		}
		if err == nil && (!genuine(raw) || n.Amount < 0 || n.AttemptID == "") {
			t.Fatalf("accepted %q as %+v", raw, n)
		}
		if errors.Is(err, ErrForm) && !genuine(raw) {
			t.Fatalf("%q has no signature that holds, and was believed to have one", raw)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	m := testMerchant(b, http.DefaultClient, "")
	raw := signedQuery(success())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Read(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead_forged(b *testing.B) {
	m := testMerchant(b, http.DefaultClient, "")
	raw := signedQuery(success()) + "&vnp_Extra=1"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Read(raw); err == nil {
			b.Fatal("accepted")
		}
	}
}
