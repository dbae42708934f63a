package vnpay

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

// vector is one published example.
type vector struct {
	ID            string
	Kind          string
	Secret        telemetry.Secret
	Params        map[string]string
	Canonical     string
	Hash          string
	ReceivedHash  string `json:"received_hash"`
	ExpectValid   bool   `json:"expect_valid"`
	ExpectRspCode string `json:"expect_rspcode"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text := testenv.Must(os.ReadFile("testdata/vectors.json"))(t)
	var file struct{ Vectors []vector }
	testenv.NoError(t, json.Unmarshal(text, &file))
	if len(file.Vectors) != 5 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	return file.Vectors
}

// The examples' site codes and secrets do not have the form that Config requires, so merchantOf builds the merchant
// directly.
func merchantOf(v vector) *Merchant {
	return &Merchant{Config{TmnCode: v.Params["vnp_TmnCode"], HashSecret: v.Secret}, gatewayhttp.NewClient(http.DefaultClient), time.Now}
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			m := merchantOf(v)
			switch v.Kind {
			case "raw_hmac_sha512":
				testenv.Equal(t, v.Hash, m.sign(v.Canonical))
			case "pay_url":
				checkCanonical(t, m, v)
			case "ipn_or_return":
				if v.ExpectValid {
					checkCanonical(t, m, v)
				}
				checkRead(t, m, v)
			default:
				t.Errorf("nothing is known about the kind %q", v.Kind)
			}
		})
	}
}

func checkCanonical(t *testing.T, m *Merchant, v vector) {
	t.Helper()
	var pairs []pair
	for key, value := range v.Params {
		pairs = append(pairs, pair{key, value})
	}
	text := canonical(pairs)
	testenv.Equal(t, v.Canonical, text)
	testenv.Equal(t, v.Hash, m.sign(text))
}

func checkRead(t *testing.T, m *Merchant, v vector) {
	t.Helper()
	q := url.Values{}
	for key, value := range v.Params {
		q.Set(key, value)
	}
	q.Set(hashKey, v.Hash+v.ReceivedHash) // each vector has one of them
	n, err := m.Read(q.Encode())
	if !v.ExpectValid {
		if !errors.Is(err, ErrSignature) || ReplyFor(v.ExpectRspCode).Message != "Invalid signature" {
			t.Errorf("read as %+v, %v", n, err)
		}
		return
	}
	if err != nil || n.AttemptID != v.Params["vnp_TxnRef"] || n.Amount != 10_000 || n.Ref != "14422574" {
		t.Errorf("read as %+v, %v", n, err)
	}
}
