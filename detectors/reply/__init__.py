"""What an assistant's reply does to somebody in danger: criteria, harm, numbers, scale marks, outcome."""
