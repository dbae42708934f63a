package cataloghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/money"
	"comanda/internal/seq"
)

func (s *staff) registerBranches(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-branch-create", "POST /api/branches",
		"Create a branch without tables and menus", s.createBranch, httpapi.Created)
	httpapi.Register(ops, "staff-country-list", "GET /api/countries",
		"List countries with the defaults of a new branch", s.countries)
	httpapi.Register(ops, "staff-branch-get", "GET /api/branches/{id}", "View a branch", s.branch)
	httpapi.Register(ops, "staff-branch-edit", "PATCH /api/branches/{id}", "Edit a branch", s.editBranch)
	httpapi.Register(ops, "staff-branch-retire", "POST /api/branches/{id}/retire",
		"Archive a branch; its orders and reports stay", s.retireBranch)
	httpapi.Register(ops, "staff-branch-restore", "POST /api/branches/{id}/restore",
		"Restore an archived branch", s.restoreBranch)
	httpapi.Register(ops, "staff-branch-copy", "POST /api/branches/{id}/copy",
		"Create a branch with the settings, hours and menu of another", s.copyBranch, httpapi.Created)
	httpapi.Register(ops, "staff-branch-pause", "POST /api/branches/{id}/pause",
		"Pause ordering; guests see the reason and the end", s.pause)
	httpapi.Register(ops, "staff-branch-resume", "POST /api/branches/{id}/resume", "Resume ordering", s.resume)
	httpapi.Register(ops, "staff-branch-availability", "GET /api/branches/{id}/availability",
		"View what is left of each dish today", s.availability)
}

// pausedBranch is a pause as the staff see it.
type pausedBranch struct {
	ReasonCode *string       `json:"reasonCode" enum:"BUSY,STAFF,TECHNICAL,EVENT"`
	Reasons    catalog.Texts `json:"reasons" doc:"By locale; empty if there is a code."`
	Since      time.Time     `json:"since"`
	Until      *time.Time    `json:"until" doc:"null: until staff resume."`
	By         string        `json:"by"`
}

func pausedOf(p *catalog.Pause) *pausedBranch {
	if p == nil {
		return nil
	}
	return &pausedBranch{
		ReasonCode: httpapi.OrNull(string(p.Code)), Reasons: textsOrEmpty(p.Texts), Since: p.Since,
		Until: httpapi.TimeOrNull(p.Until), By: p.By,
	}
}

// textsOrEmpty returns an empty map for nil, so that JSON has {} and not null.
func textsOrEmpty(t catalog.Texts) catalog.Texts {
	if t == nil {
		return catalog.Texts{}
	}
	return t
}

// branchResponse wraps a branch as a response.
func (s *staff) branchResponse(b catalog.Branch, err error) (branch, error) {
	if err != nil {
		return branch{}, err // a branch without a time zone has no business date
	}
	return s.branchOf(b), nil
}

func (s *staff) branch(ctx context.Context, in *httpapi.ByID) (branch, error) {
	return s.branchResponse(s.Branches.Branch(ctx, authz.ActorOf(ctx), in.ID))
}

type branchCreateIn struct{ Body newBranch }

// newBranch is a request for a branch. Omitted fields come from the country's profile.
type newBranch struct {
	Name            string           `json:"name" text:"line"`
	Country         string           `json:"country" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1, two letters."`
	Locales         []catalog.Locale `json:"locales,omitempty" text:"exact" maxItems:"10" doc:"The branch's first language comes first."`
	Currency        string           `json:"currency,omitempty" pattern:"^[A-Z]{3}$" doc:"Required for a country without a profile (currency_required)."`
	Timezone        string           `json:"timezone,omitempty" pattern:"^[A-Za-z0-9_+/-]{1,64}$" doc:"IANA name; required for a country with several time zones (timezone_required) or without a profile."`
	BizDayStartHour *int             `json:"bizDayStartHour,omitempty" minimum:"0" maximum:"23"`

	ClientTxnID string `json:"clientTxnId,omitempty" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body create one branch."`
}

func (s *staff) createBranch(ctx context.Context, in *branchCreateIn) (branch, error) {
	n := in.Body
	return s.branchResponse(s.Branches.Create(ctx, authz.ActorOf(ctx), catalog.NewBranchRequest{
		Name: n.Name, Country: catalog.Country(n.Country), Locales: n.Locales, Currency: money.Currency(n.Currency),
		Timezone: n.Timezone, DayStart: n.BizDayStartHour, ClientTxnID: n.ClientTxnID,
	}))
}

// country has the defaults of a new branch in a country.
type country struct {
	Code            string           `json:"code"`
	Currency        money.Currency   `json:"currency"`
	Timezones       []string         `json:"timezones" doc:"If there are several, a new branch must name one."`
	BizDayStartHour int              `json:"bizDayStartHour"`
	Locales         []catalog.Locale `json:"locales"`
}

func (s *staff) countries(context.Context, *struct{}) (httpapi.List[country], error) {
	all := catalog.CountryProfiles()
	return httpapi.ListOf(all, len(all), func(p catalog.CountryProfile) country {
		return country{string(p.Country), p.Currency, p.Timezones, p.DayStart, p.Locales}
	}), nil
}

// branchEdit is a change to a branch. Omitted fields stay as they are.
type branchEdit struct {
	Name             *string          `json:"name,omitempty" text:"line"`
	Country          *string          `json:"country,omitempty" pattern:"^[A-Z]{2}$" doc:"Like currency, timezone and bizDayStartHour, it cannot be changed after the first order (branch_has_orders)."`
	Currency         *string          `json:"currency,omitempty" pattern:"^[A-Z]{3}$" doc:"Prices keep their number of minor units and are not converted."`
	Timezone         *string          `json:"timezone,omitempty" pattern:"^[A-Za-z0-9_+/-]{1,64}$"`
	Locales          []catalog.Locale `json:"locales,omitempty" text:"exact" maxItems:"10" doc:"The branch's first language comes first."`
	BizDayStartHour  *int             `json:"bizDayStartHour,omitempty" minimum:"0" maximum:"23" doc:"Refused while it would change the current business date."`
	AutoCloseMinutes *int             `json:"autoCloseMinutes,omitempty" minimum:"1" maximum:"1440"`
	IsOpen           *bool            `json:"isOpen,omitempty"`
	SharedCart       *bool            `json:"sharedCart,omitempty" doc:"Whether the phones of a table share one cart."`

	OpeningHours *catalog.OpeningHours `json:"openingHours,omitempty" doc:"Replaces all hours."`
	MailFrom     *string               `json:"mailFrom,omitempty" text:"line" maxLength:"320" doc:"Such as House <no-reply@house.example>; empty removes it. Only for accounts that work in every branch."`
}

func (s *staff) editBranch(ctx context.Context, in *httpapi.BodyByID[branchEdit]) (branch, error) {
	e := catalog.BranchEdit{
		Name: in.Body.Name, Locales: in.Body.Locales, DayStart: in.Body.BizDayStartHour, Open: in.Body.IsOpen,
		Hours: in.Body.OpeningHours, Timezone: in.Body.Timezone, MailFrom: in.Body.MailFrom,
		SharedCart: in.Body.SharedCart,
	}
	if c := in.Body.Country; c != nil {
		e.Country = new(catalog.Country(*c))
	}
	if c := in.Body.Currency; c != nil {
		e.Currency = new(money.Currency(*c))
	}
	if n := in.Body.AutoCloseMinutes; n != nil {
		e.AutoClose = new(time.Duration(*n) * time.Minute)
	}
	return s.branchResponse(s.Branches.Edit(ctx, authz.ActorOf(ctx), in.ID, e))
}

func (s *staff) retireBranch(ctx context.Context, in *httpapi.ByID) (branch, error) {
	return s.branchResponse(s.Branches.Retire(ctx, authz.ActorOf(ctx), in.ID))
}

func (s *staff) restoreBranch(ctx context.Context, in *httpapi.ByID) (branch, error) {
	return s.branchResponse(s.Branches.Restore(ctx, authz.ActorOf(ctx), in.ID))
}

// branchCopy is a request for a copy of a branch.
type branchCopy struct {
	Name        string `json:"name" text:"line"`
	ClientTxnID string `json:"clientTxnId,omitempty" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body create one branch."`
}

func (s *staff) copyBranch(ctx context.Context, in *httpapi.BodyByID[branchCopy]) (branch, error) {
	return s.branchResponse(s.Branches.Copy(ctx, authz.ActorOf(ctx), s.Files, catalog.BranchCopy{
		From: in.ID, Name: in.Body.Name, ClientTxnID: in.Body.ClientTxnID,
	}))
}

type pauseRequest struct {
	ReasonCode *string       `json:"reasonCode,omitempty" enum:"BUSY,STAFF,TECHNICAL,EVENT" doc:"Phones show it in their language."`
	Reasons    catalog.Texts `json:"reasons,omitempty" text:"lines" doc:"Instead of a code: the reason by locale."`
	Until      *string       `json:"until,omitempty" text:"exact" maxLength:"40" doc:"An instant or END_OF_DAY; if omitted, until staff resume."`
}

func (s *staff) pause(ctx context.Context, in *httpapi.BodyByID[pauseRequest]) (branch, error) {
	p := catalog.Pause{Texts: in.Body.Reasons}
	if in.Body.ReasonCode != nil {
		p.Code = catalog.PauseCode(*in.Body.ReasonCode)
	}
	word := catalog.UntilRestored
	if in.Body.Until != nil {
		word = *in.Body.Until
	}
	until, err := catalog.ParseUntil(word)
	if err != nil {
		return branch{}, err
	}
	return s.branchResponse(s.Branches.Pause(ctx, authz.ActorOf(ctx), in.ID, p, until))
}

func (s *staff) resume(ctx context.Context, in *httpapi.ByID) (branch, error) {
	return s.branchResponse(s.Branches.Resume(ctx, authz.ActorOf(ctx), in.ID))
}

// BranchLister lists all branches; catalogsql.Store implements it.
type BranchLister interface {
	Branches(ctx context.Context) ([]catalog.Branch, error)
}

// RegisterPublicBranches registers the list of branches for guests who are not at a table.
func RegisterPublicBranches(a *httpapi.API, lister BranchLister, now func() time.Time) {
	httpapi.Register(a.Operations("Menus", httpapi.Public), "branch-list", "GET /branches",
		"List the branches, for guests who order from home", publicBranches{lister, now}.branches)
}

type publicBranches struct {
	lister BranchLister
	now    func() time.Time
}

// publicBranch is a branch as guests see it before they choose one. The list has no pages: an installation has few
// branches.
type publicBranch struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Currency money.Currency   `json:"currency"`
	Timezone string           `json:"timezone"`
	Locales  []catalog.Locale `json:"locales"`
	IsOpen   bool             `json:"isOpen" doc:"false while the branch is closed or paused and accepts no orders."`
	OpensAt  *time.Time       `json:"opensAt" doc:"The next opening by its hours; null within its opening hours."`
}

func (p publicBranches) branches(ctx context.Context, _ *struct{}) (httpapi.List[publicBranch], error) {
	all, err := p.lister.Branches(ctx)
	return httpapi.ListOf(all, len(all), p.branchOf), err
}

func (p publicBranches) branchOf(b catalog.Branch) publicBranch {
	now := p.now()
	closure, _ := b.Closed(now)
	return publicBranch{
		ID: httpapi.FormatID(b.ID), Name: b.Name, Currency: b.Currency, Timezone: b.Timezone, Locales: b.Locales,
		IsOpen: closure == nil && b.Paused(now) == nil, OpensAt: httpapi.TimeOrNull(b.OpensAt(now)),
	}
}

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
