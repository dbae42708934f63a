package catalog

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
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
