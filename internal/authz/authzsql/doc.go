// Package authzsql stores roles, permissions and revocations in SQL.
//
// One lock protects all roles. Transactions that change roles, permissions or assignments take it first,
// before the locks of accounts.
package authzsql
