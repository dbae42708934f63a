package price

// Input is what Quote computes: the lines of an order or a bill, and the rules of the branch. Its JSON is the body of POST
// /api/price/quote and the input of comanda price quote.
type Input struct {
	Currency         string          `json:"currency" enum:"VND,TWD,JPY,USD,EUR,SAR,THB"`
	PriceMode        Mode            `json:"priceMode" enum:"INCLUSIVE,EXCLUSIVE" doc:"Whether prices contain the tax."`
	TaxScope         TaxScope        `json:"taxScope" enum:"BILL,LINE" doc:"Where taxes are rounded: once per rate and bill, or per line."`
	TaxRounding      Rounding        `json:"taxRounding" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN"`
	DiscountRounding Rounding        `json:"discountRounding,omitempty" enum:"HALF_UP,HALF_EVEN,HALF_DOWN,UP,DOWN" doc:"HALF_UP by default."`
	Lines            []Line          `json:"lines" minItems:"1" maxItems:"1000"`
	Discounts        []Discount      `json:"discounts,omitempty" maxItems:"20" doc:"Of the whole bill."`
	ServiceCharges   []ServiceCharge `json:"serviceCharges,omitempty" maxItems:"20"`
	CashRounding     int64           `json:"cashRounding,omitempty" minimum:"0" maximum:"9007199254740991" doc:"The total is rounded half up to a multiple of it; 0 for none."`
}

// Mode determines whether prices contain the tax.
type Mode string

// The modes.
const (
	Inclusive Mode = "INCLUSIVE"
	Exclusive Mode = "EXCLUSIVE"
)

// TaxScope determines the amounts whose taxes are rounded.
type TaxScope string

// The scopes.
const (
	PerBill TaxScope = "BILL"
	PerLine TaxScope = "LINE"
)

// Line is a dish with its quantity. It has either Rate or Components; a line with neither is not taxed.
type Line struct {
	Qty        int64       `json:"qty" minimum:"1" maximum:"9007199254740991"`
	UnitPrice  int64       `json:"unitPrice" minimum:"0" maximum:"9007199254740991"`
	Rate       Percent     `json:"rate,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$" doc:"Tax rate in percent. A line without rate and components is not taxed."`
	Components []Component `json:"components,omitempty" maxItems:"20" doc:"Instead of rate: parts of the price with rates of their own, such as food and drink of a combo."`
	Discounts  []Discount  `json:"discounts,omitempty" maxItems:"20" doc:"Of this line."`
}

// Component is a part of a line's price with a tax rate of its own. The price is allocated by weight.
type Component struct {
	Rate   Percent `json:"rate" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Weight int64   `json:"weight" minimum:"0" maximum:"9007199254740991"`
}

// Discount is a percent or an amount, and never both.
type Discount struct {
	Percent Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Amount  *int64  `json:"amount,omitempty" minimum:"0" maximum:"9007199254740991" doc:"The discount is limited to the remaining amount."`
}

// ServiceCharge is a percent or an amount, and never both.
type ServiceCharge struct {
	Percent Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"`
	Amount  *int64  `json:"amount,omitempty" minimum:"0" maximum:"9007199254740991"`
	Base    Base    `json:"base,omitempty" enum:"POST,PRE" doc:"What a percent is taken of: the goods after discounts (POST, the default) or before."`
	Taxed   bool    `json:"taxed,omitempty" doc:"Whether it is taxed like the lines, in proportion to their rates."`
}

// Base is the amount to which a service charge in percent applies.
type Base string

// The bases.
const (
	AfterDiscounts  Base = "POST"
	BeforeDiscounts Base = "PRE"
)

// Result is the computed price of an order or a bill.
type Result struct {
	Goods    int64 `json:"goods" doc:"Prices times quantities."`
	Discount int64 `json:"discount"`
	Service  int64 `json:"service"`
	Taxes    []Tax `json:"taxes" doc:"By rate, the highest first."`
	Rounding int64 `json:"rounding" doc:"What cash rounding has added to the total; negative where it took off."`
	Total    int64 `json:"total" doc:"Goods less discount, with service, rounding and, in exclusive mode, taxes."`
	Lines    []Sum `json:"lines" doc:"In the order of the input."`
}

// Tax is the tax of one rate.
type Tax struct {
	Rate   Percent `json:"rate" doc:"Without trailing zeros."`
	Base   int64   `json:"base" doc:"The amount without the tax."`
	Amount int64   `json:"amount"`
}

// Sum is a line's part of a quote.
type Sum struct {
	Gross    int64 `json:"gross" doc:"Price times quantity."`
	Discount int64 `json:"discount"`
	Service  int64 `json:"service"`
	Tax      int64 `json:"tax"`
}
