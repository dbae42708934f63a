package catalog

import (
	"context"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/price"
)

// TaxClass is a kind of goods that laws tax differently, such as food or alcohol. The classes belong to the restaurant,
// like dishes; each branch assigns rates to them.
type TaxClass struct {
	Code   string
	Names  Texts
	Sort   int64
	Dishes int64 // number of dishes, without retired ones
}

// MaxTaxClasses limits the tax classes of a restaurant. Laws distinguish a handful.
const MaxTaxClasses = 50

// maxDishesPerRequest limits the dishes whose tax class one request sets.
const maxDishesPerRequest = 1000

// The faults of tax classes.
var (
	ErrTaxClass      = fault.New(fault.Invalid, "tax_class_unknown", "Tax class not found.").With("field", "taxClass")
	ErrTaxClassInUse = fault.New(fault.Conflict, "tax_class_in_use",
		"This tax class has dishes, or a branch has a rate for it.")
	ErrTooManyTaxClasses = fault.Newf(fault.Conflict, "tax_class_limit", "At most %d tax classes can be stored.", MaxTaxClasses)
)

// PricingStore stores how branches price their orders; catalogsql implements it.
type PricingStore interface {
	BranchStore
	TaxClasses(ctx context.Context) ([]TaxClass, error)
	PutTaxClass(ctx context.Context, by authz.Actor, c TaxClass, now time.Time) (TaxClass, error)
	DeleteTaxClass(ctx context.Context, by authz.Actor, code string, now time.Time) error
	// SetTaxClass sets the class of dishes and returns the branches that have them on a menu; an empty class removes it.
	SetTaxClass(ctx context.Context, by authz.Actor, class string, dishes []int64, now time.Time) ([]int64, error)
}

// PricingService manages taxes, service charges and discounts for the staff.
type PricingService struct {
	Store PricingStore
	Menus *MenuCache
	Now   func() time.Time
}

// Pricing returns how a branch prices its orders.
func (s *PricingService) Pricing(ctx context.Context, by authz.Actor, branch int64) (Pricing, error) {
	if !by.Sees(branch) {
		return Pricing{}, ErrBranch
	}
	b, err := s.Store.Branch(ctx, branch)
	return b.Pricing, err
}

// SetPricing replaces how a branch prices its orders from now on.
func (s *PricingService) SetPricing(ctx context.Context, by authz.Actor, branch int64, p Pricing) (Pricing, error) {
	b, err := s.Store.ChangePricing(ctx, by, branch, p.Filled(), s.Now())
	s.Menus.changed(ctx, err, branch)
	return b.Pricing, err
}

// TaxClasses returns the tax classes in their order.
func (s *PricingService) TaxClasses(ctx context.Context) ([]TaxClass, error) {
	return s.Store.TaxClasses(ctx)
}

// PutTaxClass creates a tax class, or changes its names.
func (s *PricingService) PutTaxClass(ctx context.Context, by authz.Actor, code string, names Texts) (TaxClass, error) {
	if !codePattern.MatchString(code) {
		return TaxClass{}, invalid("A code has 1 to 20 capital letters, digits or underscores.")
	}
	if err := names.Check("A tax class", MaxName); err != nil {
		return TaxClass{}, err
	}
	return s.Store.PutTaxClass(ctx, by, TaxClass{Code: code, Names: names}, s.Now())
}

// DeleteTaxClass deletes a tax class that is not used.
func (s *PricingService) DeleteTaxClass(ctx context.Context, by authz.Actor, code string) error {
	return s.Store.DeleteTaxClass(ctx, by, code, s.Now())
}

// SetTaxClass sets the tax class of dishes; an empty class removes it.
func (s *PricingService) SetTaxClass(ctx context.Context, by authz.Actor, class string, dishes []int64) error {
	if len(dishes) == 0 || len(dishes) > maxDishesPerRequest {
		return invalid("Select 1 to %d dishes.", maxDishesPerRequest)
	}
	branches, err := s.Store.SetTaxClass(ctx, by, class, dishes, s.Now())
	s.Menus.changed(ctx, err, branches...)
	return err
}

// PricingProfile is a starting point for the pricing of a branch in a country. Every field can be edited. Rates are
// suggestions, not legal advice.
type PricingProfile struct {
	Country Country
	Name    string // distinguishes the profiles of one country
	Pricing Pricing
}

// inclusive returns the pricing that most countries prescribe: prices contain the tax, which is rounded half up once
// per rate and bill.
func inclusive(rates []TaxRate, rules []TaxRule, charges ...ChargeRule) Pricing {
	return Pricing{
		PriceMode: price.Inclusive, TaxScope: price.PerBill, TaxRounding: price.HalfUp, DiscountRounding: price.HalfUp,
		Rates: rates, Rules: rules, ServiceCharges: charges,
	}
}

// ruleFor returns rules that tax classes with one rate.
func ruleFor(rate string, classes ...string) []TaxRule {
	all := make([]TaxRule, len(classes))
	for i, c := range classes {
		all[i] = TaxRule{TaxClass: c, Rate: rate}
	}
	return all
}

// The tax classes that every restaurant starts with, see migration 37.
const (
	ClassFood      = "FOOD"
	ClassSoftDrink = "SOFT_DRINK"
	ClassAlcohol   = "ALCOHOL"
	ClassPackaging = "PACKAGING"
)

// tenPercentService is the service charge that is usual in Taiwan.
var tenPercentService = ChargeRule{
	Names: Texts{
		English: "Service charge", Vietnamese: "Phí phục vụ",
		Chinese: "服務費", Japanese: "サービス料", //nolint:gosmopolitan // text of the product
	},
	Percent: "10", Kinds: []OrderKind{DineIn}, Taxed: true,
}

// pricingProfiles are the profiles, by country.
var pricingProfiles = []PricingProfile{
	// § 12 (2) 15 UStG in the version of 2026: food 7 %, drinks 19 %, eaten here or taken away.
	{"DE", "Restaurant", inclusive(
		[]TaxRate{
			{Code: "REDUCED", Name: "§ 12 (2) UStG", Percent: "7"},
			{Code: "STANDARD", Name: "§ 12 (1) UStG", Percent: "19"},
		},
		slices.Concat(ruleFor("REDUCED", ClassFood), ruleFor("STANDARD", ClassSoftDrink, ClassAlcohol, ClassPackaging)),
	)},
	// The reduced rate is for food and soft drinks that are taken away or delivered. Amounts below one yen are usually cut.
	{"JP", "Restaurant", func() Pricing {
		p := inclusive(
			[]TaxRate{{Code: "STANDARD", Percent: "10"}, {Code: "REDUCED", Percent: "8"}},
			slices.Concat(ruleFor("STANDARD", ClassFood, ClassSoftDrink, ClassAlcohol, ClassPackaging), []TaxRule{
				{ClassFood, Delivery, "REDUCED"}, {ClassFood, PickUp, "REDUCED"},
				{ClassSoftDrink, Delivery, "REDUCED"}, {ClassSoftDrink, PickUp, "REDUCED"},
			}),
		)
		p.TaxRounding = price.Down
		return p
	}()},
	{"TW", "Restaurant", inclusive(
		[]TaxRate{{Code: "VAT", Percent: "5"}},
		ruleFor("VAT", ClassFood, ClassSoftDrink, ClassAlcohol, ClassPackaging), tenPercentService,
	)},
	{"TW", "Small business", inclusive(
		[]TaxRate{{Code: "VAT", Name: "Assessed by the tax office", Percent: "1"}},
		ruleFor("VAT", ClassFood, ClassSoftDrink, ClassAlcohol, ClassPackaging),
	)},
	// Sales tax differs by place and comes on top of the price. The rate here is that of New York City.
	{"US", "Restaurant", func() Pricing {
		p := inclusive(
			[]TaxRate{{Code: "SALES", Percent: "8.875"}},
			ruleFor("SALES", ClassFood, ClassSoftDrink, ClassAlcohol, ClassPackaging),
		)
		p.PriceMode = price.Exclusive
		return p
	}()},
	// Decree 174/2025/NĐ-CP: 8 % until 2026-12-31, except goods under special consumption tax such as beer and spirits.
	{"VN", "Restaurant", inclusive(
		[]TaxRate{
			{Code: "VAT", Name: "174/2025/NĐ-CP", Percent: "8", ValidTo: "2026-12-31"},
			{Code: "VAT", Percent: "10", ValidFrom: "2027-01-01"},
			{Code: "VAT_FULL", Percent: "10"},
		},
		slices.Concat(ruleFor("VAT", ClassFood, ClassSoftDrink, ClassPackaging), ruleFor("VAT_FULL", ClassAlcohol)),
	)},
	// Household businesses pay tax on their turnover, and their bills show no rate.
	{"VN", "Household business", inclusive(nil, nil)},
}

// PricingProfiles returns all profiles by country.
func PricingProfiles() []PricingProfile { return slices.Clone(pricingProfiles) }
