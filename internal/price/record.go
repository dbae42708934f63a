package price

// Version is the version of the engine's rules. It grows with every change that can change a result, and older rules stay
// available to Recompute, so that the total of an old order can be checked at any time.
const Version = 1

// QuoteRecord is how an order or a bill was priced. It is stored with the order.
type QuoteRecord struct {
	Engine int    `json:"engine"`
	Input  Input  `json:"input"`
	Result Result `json:"result"`
	// Discount names the discount that the staff set; nil if there is none. The engine does not read it.
	Discount *DiscountLabel `json:"discount,omitempty"`
	// Voucher names the discount of a voucher, which is the first one of the input; nil if there is none.
	Voucher *DiscountLabel `json:"voucher,omitempty"`
}

// DiscountNames returns the names of everything that was taken off, by locale; nil if there is nothing. A name that is
// missing in a locale is missing there.
func (r QuoteRecord) DiscountNames() map[string]string {
	var names map[string]string
	for _, label := range []*DiscountLabel{r.Voucher, r.Discount} {
		if label == nil {
			continue
		}
		if names == nil {
			names = map[string]string{}
		}
		for l, name := range label.Names {
			if names[l] != "" {
				name = names[l] + " + " + name
			}
			names[l] = name
		}
	}
	return names
}

// DiscountLabel is what a discount was called when it was set.
type DiscountLabel struct {
	Code  string            `json:"code"`
	Names map[string]string `json:"names"` // by locale
}

// NewQuoteRecord computes a price and returns it as a record.
func NewQuoteRecord(in Input) (QuoteRecord, error) {
	r, err := Quote(in)
	return QuoteRecord{Engine: Version, Input: in, Result: r}, err
}

// Recompute computes the result of a record again with the rules that it was computed with. ok is false if this release
// does not have them.
func (r QuoteRecord) Recompute() (result Result, ok bool, err error) {
	if r.Engine != Version {
		return Result{}, false, nil
	}
	result, err = Quote(r.Input)
	return result, true, err
}

// TaxAmount returns the sum of the taxes.
func (r Result) TaxAmount() (sum int64) {
	for _, t := range r.Taxes {
		sum += t.Amount
	}
	return sum
}
