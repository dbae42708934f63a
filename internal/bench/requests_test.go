package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	"comanda/internal/bench/load"
	"comanda/internal/testenv"
)

// stub returns a product with dishes whose ids differ in length.
func stub(t testing.TB) *product {
	t.Helper()
	target := testenv.Must(load.ParseTarget("http://127.0.0.1:8080"))(t)
	return &product{
		target: target, conns: 64, version: "5", guests: []string{"guest-a", "guest-b"},
		items: []string{"7", "9000001", "42", "123456"},
	}
}

// parseOrder reads a request as a server does.
func parseOrder(t *testing.T, text []byte) (*http.Request, orderBody) {
	t.Helper()
	r := testenv.Must(http.ReadRequest(bufio.NewReader(bytes.NewReader(text))))(t)
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength || !bytes.HasSuffix(text, body) {
		t.Fatalf("the body has %d bytes, announced are %d: %v", len(body), r.ContentLength, err)
	}
	var o orderBody
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return r, o
}

func TestOrders_areAllDifferentAndAllValid(t *testing.T) {
	p := stub(t)
	keys, counts := map[string]bool{}, map[string]int{}
	for conn := range 3 {
		next := p.orders("run", conn, p.items)
		for range 200 {
			r, o := parseOrder(t, next())
			if r.Method != http.MethodPost || r.URL.Path != orderPath || r.Header.Get("X-Customer-Token") != p.guests[conn%2] {
				t.Fatalf("%s %s of %s", r.Method, r.URL, r.Header.Get("X-Customer-Token"))
			}
			if o.PaymentMethod != "COUNTER" || o.MenuVersionID != "5" || len(o.Items) != lineCount {
				t.Fatalf("order = %+v, want COUNTER, menu version 5 and %d items", o, lineCount)
			}
			if len(o.ClientTxnID) > 64 || keys[o.ClientTxnID] {
				t.Fatalf("clientTxnId %q", o.ClientTxnID)
			}
			keys[o.ClientTxnID] = true
			in := map[string]bool{}
			for _, it := range o.Items {
				counts[it.ItemID]++
				in[it.ItemID] = it.Qty == 1 && slices.Contains(p.items, it.ItemID)
			}
			if len(in) != lineCount || !in["7"] && !in["42"] {
				t.Fatalf("items = %+v, want %d different ones of the menu, and item 7 or 42", o.Items, lineCount)
			}
		}
	}
	for _, n := range counts {
		if n != 3*200*lineCount/len(p.items) {
			t.Errorf("orders by dish = %v, want as many of each", counts)
		}
	}
}

func TestOrders_ofASoldOutDish(t *testing.T) {
	_, o := parseOrder(t, stub(t).orders("run", 0, []string{"99"})())
	if len(o.Items) != 1 || o.Items[0].ItemID != "99" {
		t.Errorf("order = %+v, want only item 99", o)
	}
}

func BenchmarkOrders(b *testing.B) {
	next := stub(b).orders("run", 0, []string{"9000001", "9000002", "9000003", "9000004"})
	b.ReportAllocs()
	for range b.N {
		next()
	}
}
