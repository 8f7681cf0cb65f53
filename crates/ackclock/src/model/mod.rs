//! The synchronous (Chiu-Jain) model and closed forms.
