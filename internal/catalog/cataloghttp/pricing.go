package cataloghttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// registerPricing registers the routes of taxes, service charges and discounts. By default only owners and administrators
// may change them; managers may read them.
func (s *staff) registerPricing(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-pricing-get", "GET /api/branches/{id}/pricing",
		"View taxes, service charges and discounts of a branch", s.pricing)
	httpapi.Register(ops, "staff-pricing-set", "PUT /api/branches/{id}/pricing",
		"Set taxes, service charges and discounts of a branch", s.setPricing)
	httpapi.Register(ops, "staff-pricing-profiles", "GET /api/pricing-profiles",
		"List the usual taxes of countries", s.pricingProfiles)
	httpapi.Register(ops, "staff-tax-class-list", "GET /api/tax-classes", "List the tax classes of dishes", s.taxClasses)
	httpapi.Register(ops, "staff-tax-class-put", "PUT /api/tax-classes/{code}", "Add a tax class, or rename it", s.putTaxClass)
	httpapi.RegisterOutput(ops, "staff-tax-class-drop", "DELETE /api/tax-classes/{code}",
		"Delete a tax class that is not used", s.deleteTaxClass)
	httpapi.RegisterOutput(ops, "staff-tax-class-assign", "POST /api/tax-classes/assign",
		"Set the tax class of dishes", s.assignTaxClass)
}

func (s *staff) pricing(ctx context.Context, in *httpapi.ByID) (catalog.Pricing, error) {
	p, err := s.Pricing.Pricing(ctx, authz.ActorOf(ctx), in.ID)
	return p.Filled(), err
}

func (s *staff) setPricing(ctx context.Context, in *httpapi.BodyByID[catalog.Pricing]) (catalog.Pricing, error) {
	p, err := s.Pricing.SetPricing(ctx, authz.ActorOf(ctx), in.ID, in.Body)
	return p.Filled(), err
}

// pricingProfile is a starting point for the pricing of a branch.
type pricingProfile struct {
	Country string          `json:"country" doc:"ISO 3166-1, two letters."`
	Name    string          `json:"name"`
	Pricing catalog.Pricing `json:"pricing"`
}

func (s *staff) pricingProfiles(context.Context, *struct{}) (httpapi.List[pricingProfile], error) {
	all := catalog.PricingProfiles()
	return httpapi.ListOf(all, len(all), func(p catalog.PricingProfile) pricingProfile {
		return pricingProfile{string(p.Country), p.Name, p.Pricing.Filled()}
	}), nil
}

type taxClass struct {
	Code   string        `json:"code"`
	Names  catalog.Texts `json:"names"`
	Dishes int64         `json:"dishes" doc:"Number of its dishes, without archived ones."`
}

func taxClassOf(c catalog.TaxClass) taxClass { return taxClass{c.Code, c.Names, c.Dishes} }

func (s *staff) taxClasses(ctx context.Context, _ *struct{}) (httpapi.List[taxClass], error) {
	all, err := s.Pricing.TaxClasses(ctx)
	return httpapi.ListOf(all, len(all), taxClassOf), err
}

type taxClassIn struct {
	Code string `path:"code" maxLength:"20"`
	Body struct {
		Names catalog.Texts `json:"names" text:"line"`
	}
}

func (s *staff) putTaxClass(ctx context.Context, in *taxClassIn) (taxClass, error) {
	c, err := s.Pricing.PutTaxClass(ctx, authz.ActorOf(ctx), in.Code, in.Body.Names)
	return taxClassOf(c), err
}

type taxClassDropIn struct {
	Code string `path:"code" maxLength:"20"`
}

func (s *staff) deleteTaxClass(ctx context.Context, in *taxClassDropIn) (*struct{}, error) {
	return nil, s.Pricing.DeleteTaxClass(ctx, authz.ActorOf(ctx), in.Code)
}

type taxClassAssignIn struct {
	Body struct {
		TaxClass string   `json:"taxClass" pattern:"^[A-Z0-9_]{0,20}$" doc:"Empty removes the class."`
		DishIDs  []string `json:"dishIds" text:"exact" minItems:"1" maxItems:"1000"`
	}
}

func (s *staff) assignTaxClass(ctx context.Context, in *taxClassAssignIn) (*struct{}, error) {
	ids, err := seq.TryMap(in.Body.DishIDs, func(id string) (int64, error) {
		if n, ok := parseID(id); ok {
			return n, nil
		}
		return 0, catalog.ErrDish
	})
	if err != nil {
		return nil, err
	}
	return nil, s.Pricing.SetTaxClass(ctx, authz.ActorOf(ctx), in.Body.TaxClass, ids)
}
