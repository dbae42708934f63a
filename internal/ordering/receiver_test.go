package ordering

import (
	"errors"
	"strings"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

func TestReceiver_normal(t *testing.T) {
	good := Receiver{Name: "Nguyễn Thị Lan", Phone: "+84912345678", Address: "12 Hàng Bạc, Hà Nội", Email: "lan@example.com"}
	for name, c := range map[string]struct {
		kind   Kind
		change func(*Receiver)
		want   func(*Receiver) // turns the valid receiver into the expected one
		field  string          // the field that the error names
	}{
		"as it is":             {Delivery, func(*Receiver) {}, func(*Receiver) {}, ""},
		"spaces around a name": {Delivery, func(r *Receiver) { r.Name = "  Lan\t" }, func(r *Receiver) { r.Name = "Lan" }, ""},
		"a name of 120":        {Delivery, func(r *Receiver) { r.Name = strings.Repeat("ễ", 120) }, func(r *Receiver) { r.Name = strings.Repeat("ễ", 120) }, ""},
		"a name of 121":        {Delivery, func(r *Receiver) { r.Name = strings.Repeat("ễ", 121) }, nil, "receiverName"},
		"no name":              {Delivery, func(r *Receiver) { r.Name = " " }, nil, "receiverName"},
		"a name of two lines":  {Delivery, func(r *Receiver) { r.Name = "Lan\nPAID" }, nil, "receiverName"},
		"a name of bad bytes":  {Delivery, func(r *Receiver) { r.Name = "Lan\xff" }, nil, "receiverName"},

		"a national number":     {Delivery, func(r *Receiver) { r.Phone = "0912 345-678" }, func(r *Receiver) { r.Phone = "0912345678" }, ""},
		"a number with filling": {Delivery, func(r *Receiver) { r.Phone = "+84 (912) 345.678" }, func(*Receiver) {}, ""},
		"15 digits":             {Delivery, func(r *Receiver) { r.Phone = "+123456789012345" }, func(r *Receiver) { r.Phone = "+123456789012345" }, ""},
		"16 digits":             {Delivery, func(r *Receiver) { r.Phone = "+1234567890123456" }, nil, "receiverPhone"},
		"5 digits":              {Delivery, func(r *Receiver) { r.Phone = "12345" }, nil, "receiverPhone"},
		"no country has 0":      {Delivery, func(r *Receiver) { r.Phone = "+0912345678" }, nil, "receiverPhone"},
		"no number":             {PickUp, func(r *Receiver) { r.Phone = "" }, nil, "receiverPhone"},
		"letters":               {Delivery, func(r *Receiver) { r.Phone = "0912abc678" }, nil, "receiverPhone"},
		"other digits":          {Delivery, func(r *Receiver) { r.Phone = "٠٩١٢٣٤٥٦٧٨" }, nil, "receiverPhone"},
		"a plus in the middle":  {Delivery, func(r *Receiver) { r.Phone = "84+912345678" }, nil, "receiverPhone"},

		"an address of 5":         {Delivery, func(r *Receiver) { r.Address = "Số 12" }, func(r *Receiver) { r.Address = "Số 12" }, ""},
		"an address of 4":         {Delivery, func(r *Receiver) { r.Address = " Số1 " }, nil, "receiverAddress"},
		"an address of 300":       {Delivery, func(r *Receiver) { r.Address = strings.Repeat("x", 300) }, func(r *Receiver) { r.Address = strings.Repeat("x", 300) }, ""},
		"an address of 301":       {PickUp, func(r *Receiver) { r.Address = strings.Repeat("x", 301) }, nil, "receiverAddress"},
		"no address for delivery": {Delivery, func(r *Receiver) { r.Address = "" }, nil, "receiverAddress"},
		"no address to fetch":     {PickUp, func(r *Receiver) { r.Address = "" }, func(r *Receiver) { r.Address = "" }, ""},
		"an address of two lines": {Delivery, func(r *Receiver) { r.Address = "12 Hàng Bạc\r\nHà Nội" }, nil, "receiverAddress"},

		"a note of two lines": {Delivery, func(r *Receiver) { r.Note = " Cổng 2\r\nTầng 3\n" }, func(r *Receiver) { r.Note = "Cổng 2\nTầng 3" }, ""},
		"a note of spaces":    {Delivery, func(r *Receiver) { r.Note = " \n\t" }, func(*Receiver) {}, ""},
		"a note to fetch":     {PickUp, func(r *Receiver) { r.Note = "At 7" }, func(r *Receiver) { r.Note = "At 7" }, ""},
		"a note of 200":       {Delivery, func(r *Receiver) { r.Note = strings.Repeat("ễ", 200) }, func(r *Receiver) { r.Note = strings.Repeat("ễ", 200) }, ""},
		"a note of 201":       {Delivery, func(r *Receiver) { r.Note = strings.Repeat("ễ", 201) }, nil, "receiverNote"},
		"a note that rings":   {Delivery, func(r *Receiver) { r.Note = "Bell\a" }, nil, "receiverNote"},
		"a note of bad bytes": {Delivery, func(r *Receiver) { r.Note = "Bell\xff" }, nil, "receiverNote"},

		"no e-mail":        {Delivery, func(r *Receiver) { r.Email = " " }, func(r *Receiver) { r.Email = "" }, ""},
		"another's e-mail": {Delivery, func(r *Receiver) { r.Email = " Lan@Example.COM" }, func(*Receiver) {}, ""},
		"no domain":        {Delivery, func(r *Receiver) { r.Email = "lan@" }, nil, "receiverEmail"},
		"two addresses":    {Delivery, func(r *Receiver) { r.Email = "a@example.com,b@example.com" }, nil, "receiverEmail"},
	} {
		t.Run(name, func(t *testing.T) {
			in, want := good, good
			c.change(&in)
			got, err := in.normalized(c.kind)
			if c.want != nil {
				c.want(&want)
				if err != nil || got != want {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
				return
			}
			var f *fault.Error
			if !errors.As(err, &f) || f.PublicCode() != "invalid" || f.Extra["field"] != c.field {
				t.Errorf("%v, want %s to be wrong", err, c.field)
			}
		})
	}
}

func TestCheckout_normal(t *testing.T) {
	good := Checkout{Kind: PickUp, ClientTxnID: "c-1", Receiver: Receiver{Name: "Lan", Phone: "0912345678"}}
	for name, c := range map[string]struct {
		change func(*Checkout)
		ok     bool
	}{
		"as it is":         {func(*Checkout) {}, true},
		"at a table":       {func(c *Checkout) { c.Kind = DineIn }, false},
		"no kind":          {func(c *Checkout) { c.Kind = "" }, false},
		"no clientTxnId":   {func(c *Checkout) { c.ClientTxnID = "" }, false},
		"a long one":       {func(c *Checkout) { c.ClientTxnID = strings.Repeat("ễ", MaxClientID) }, true},
		"one that is long": {func(c *Checkout) { c.ClientTxnID = strings.Repeat("ễ", MaxClientID+1) }, false},
	} {
		in := good
		c.change(&in)
		if _, err := in.normalized(); (err == nil) != c.ok {
			t.Errorf("checkout with %s: error %v, want success %t", name, err, c.ok)
		}
	}
}

// A request without a note keeps the digest of releases before notes, so that it may be retried with either release.
func TestCheckout_digest_without_note(t *testing.T) {
	total := int64(1000)
	c := Checkout{
		UserID: 7, Kind: Delivery, Branch: 1, Method: "COUNTER", ClientTxnID: "c-1", ExpectedTotal: &total,
		Receiver: Receiver{Name: "Lan", Phone: "0912345678", Address: "12 Hàng Bạc", Email: "lan@example.com"},
	}
	testenv.Equal(t, "7963117ceac15bd24e16558c", contentOf(c).digest())
}

// The digest depends on the normalized request, and not on its spelling or on the cart.
func TestCheckout_digest(t *testing.T) {
	total, other := int64(1000), int64(2000)
	base := Checkout{
		UserID: 7, Kind: Delivery, Branch: 1, Method: "COUNTER", ClientTxnID: "c-1", ExpectedTotal: &total,
		Receiver: Receiver{Name: "Lan", Phone: "0912 345 678", Address: "12 Hàng Bạc", Email: "LAN@example.com"},
	}
	digest := func(change func(*Checkout)) string {
		c := base
		change(&c)
		return contentOf(testenv.Must(c.normalized())(t)).digest()
	}
	same := digest(func(*Checkout) {})
	if got := digest(func(c *Checkout) { c.Receiver.Phone, c.Receiver.Email = "0912345678", "lan@example.com" }); got != same {
		t.Error("the same request in other spelling is another")
	}
	seen := map[string]bool{same: true}
	for name, change := range map[string]func(*Checkout){
		"user": func(c *Checkout) { c.UserID = 8 }, "kind": func(c *Checkout) { c.Kind = PickUp },
		"branch": func(c *Checkout) { c.Branch = 2 }, "method": func(c *Checkout) { c.Method = "SANDBOX" },
		"name": func(c *Checkout) { c.Receiver.Name = "An" }, "phone": func(c *Checkout) { c.Receiver.Phone = "0912345679" },
		"address": func(c *Checkout) { c.Receiver.Address = "13 Hàng Bạc" }, "email": func(c *Checkout) { c.Receiver.Email = "" },
		"note": func(c *Checkout) { c.Receiver.Note = "Tầng 3" }, "longer note": func(c *Checkout) { c.Receiver.Note = "Tầng 3\nCổng 2" },
		"total": func(c *Checkout) { c.ExpectedTotal = &other }, "no total": func(c *Checkout) { c.ExpectedTotal = nil },
	} {
		if d := digest(change); seen[d] {
			t.Errorf("another %s makes the same request", name)
		} else {
			seen[d] = true
		}
	}
}
